/** ASCII characters, by code. */
export type CharacterSet = Readonly<Uint8Array>

export function charactersOf(oneOf: RegExp): CharacterSet {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(oneOf.test(String.fromCharCode(code))))
}

/**
 * Whether a text has `least` characters of a set in a row: what no text has that holds something encoded. Looks at the last of so many first, so that
 * in prose it sees one character in five where a pattern begins at each.
 */
export function hasRun(text: string, characters: CharacterSet, least: number): boolean {
  for (let last = least - 1; last < text.length;) {
    let at = last
    while (at > last - least && characters[text.charCodeAt(at)] === 1) at -= 1
    if (at === last - least) return true
    last = at + least
  }
  return false
}
