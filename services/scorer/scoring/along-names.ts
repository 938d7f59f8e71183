/**
 * What a value is called, and what it stands in; the body itself has no name. Texts share what they stand in, where a pointer is looked into only whole:
 * those of 40,000 levels would take 1.8 GB.
 */
export interface Path {
  name: string
  within: Path | null
}

/**
 * What the names come to under which a text stands, from the body inwards: `within` says it of a member from what it is of its holder. Each container
 * is looked at once: the names of 40,000 texts on 40,000 levels are 800 million.
 */
export function alongNames<T>(ofBody: T, within: (holder: T, name: string) => T): (text: Path) => T {
  const known = new Map<Path, T>()
  return (text) => {
    const unknown: Path[] = []
    let next = text.within
    for (; next !== null && !known.has(next); next = next.within) unknown.push(next)
    let found = (next === null ? undefined : known.get(next)) ?? ofBody
    for (const path of unknown.reverse()) {
      if (path.within !== null) found = within(found, path.name)
      known.set(path, found)
    }
    return text.within === null ? found : within(found, text.name)
  }
}

/** What texts are called, or what the lists are called that they stand in. */
export function labelling(): (text: Path) => string {
  return alongNames('', (label, name) => (/^\d+$/.test(name) ? label : name))
}

/** The names of the outermost containers that texts stand in, and of the texts: as many as `most`. */
export function firstNames(most: number): (text: Path) => readonly string[] {
  return alongNames<readonly string[]>([], (names, name) => (names.length < most ? [...names, name] : names))
}
