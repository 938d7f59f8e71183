/**
 * Case folding that ignores how accents are composed: "STRASSE" finds "straße", "É" finds "e\u0301". Offsets lead back: entry i is
 * where in the original the folded unit i comes from.
 */
export function foldCase(original: string): { text: string; offsets: Int32Array } {
  const pieces: string[] = []
  const offsets: number[] = []
  let at = 0
  for (const character of original) {
    const folded = foldCharacter(character)
    for (let unit = 0; unit < folded.length; unit++) offsets.push(at)
    pieces.push(folded)
    at += character.length
  }
  offsets.push(at)
  return { text: pieces.join(''), offsets: Int32Array.from(offsets) }
}

function foldCharacter(character: string): string {
  if (character < '\u0080') return character.toLowerCase()
  // Upper then lower case, a character at a time, is full case folding (ß is ss, every sigma one) but for the dotless i.
  const folded = character === 'ı' ? character : character.toUpperCase().toLowerCase()
  return folded.normalize('NFD')
}

/** Whether a match that ends here would cut an accent off its letter. */
export function splitsLetter(text: string, end: number): boolean {
  return /^\p{M}/u.test(text.slice(end, end + 2))
}
