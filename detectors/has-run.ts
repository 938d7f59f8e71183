/** A set of ASCII characters, by code. */
export type CharacterSet = Readonly<Uint8Array>

export function charactersOf(oneOf: RegExp): CharacterSet {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(oneOf.test(String.fromCharCode(code))))
}

/**
 * True if the text has `min` characters of the set in a row, which any encoded passage has. Checks the last
 * position of each window first, so prose costs about one look per five characters.
 */
export function hasRun(text: string, characters: CharacterSet, min: number): boolean {
  for (let last = min - 1; last < text.length;) {
    let at = last
    while (at > last - min && characters[text.charCodeAt(at)] === 1) at -= 1
    if (at === last - min) return true
    last = at + min
  }
  return false
}
