/** Edits a text's UTF-16 units in place; lone surrogates survive. */
function rewriteUnits(text: string, rewrite: (units: Uint16Array) => void): string {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at)
  rewrite(units)
  return Buffer.from(units.buffer).toString('utf16le')
}

/** Rotates Latin letters by thirteen. */
export function rot13(text: string): string {
  return rewriteUnits(text, (units) => {
    for (let at = 0; at < units.length; at++) {
      const unit = units[at] ?? 0
      const letter = (unit | 0x20) - 0x61
      if (letter >= 0 && letter < 26) units[at] = unit + (letter < 13 ? 13 : -13)
    }
  })
}

/** Reverses the text. */
export function backwards(text: string): string {
  return rewriteUnits(text, (units) => {
    units.reverse()
    for (let at = 1; at < units.length; at++) {
      const [first = 0, second = 0] = [units[at - 1], units[at]]
      // The two units of one character.
      if (first >>> 10 !== 0x37 || second >>> 10 !== 0x36) continue
      units[at - 1] = second
      units[at] = first
      at += 1
    }
  })
}
