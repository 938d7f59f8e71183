import { foldCharacters, remember, type FoldedText } from '#detectors/fold-characters.ts'

/** Case folding that ignores how accents are composed: "STRASSE" finds "straße", "É" finds "e\u0301". */
export function foldCase(original: string): FoldedText {
  return foldCharacters(original, foldCharacter)
}

const foldCharacter = remember((character) => {
  // Upper then lower case per character is full case folding (ß to ss, one sigma), except for the dotless i.
  const folded = character === 'ı' ? character : character.toUpperCase().toLowerCase()
  return folded.normalize('NFD')
})

/** True if a match ending here would cut an accent off its letter. Variation selectors are no accents. */
export function splitsLetter(text: string, end: number): boolean {
  return /^[\p{M}--[\ufe00-\ufe0f]]/v.test(text.slice(end, end + 2))
}
