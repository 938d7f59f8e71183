/**
 * A value's name and its container; the body itself has no name. Texts share containers; a pointer string
 * each would take 1.8 GB for 40,000 levels.
 */
export interface Path {
  name: string
  within: Path | null
}

/**
 * Folds a function over the names from the body down to a text. `within` computes a member's value from its
 * container's. Each container is computed once: 40,000 texts on 40,000 levels have 800 million names.
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

/** The name of a text, or of the list that contains it. */
export function labelling(): (text: Path) => string {
  return alongNames('', (label, name) => (/^\d+$/.test(name) ? label : name))
}

/** The outermost `max` names on the way to a text. */
export function firstNames(max: number): (text: Path) => readonly string[] {
  return alongNames<readonly string[]>([], (names, name) => (names.length < max ? [...names, name] : names))
}
