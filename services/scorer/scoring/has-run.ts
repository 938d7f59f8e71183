/** A set of ASCII characters, by code. */
export type CharacterSet = Readonly<Uint8Array>

export function charactersOf(oneOf: RegExp): CharacterSet {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(oneOf.test(String.fromCharCode(code))))
}

/**
 * True if the text has `least` characters of the set in a row, which any encoded passage has. Checks the last
 * position of each window first, so prose costs about one look per five characters.
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
