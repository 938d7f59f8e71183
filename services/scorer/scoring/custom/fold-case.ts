import { foldCharacters, remember, type FoldedText } from '../fold-characters.ts'

/** Case folding that ignores how accents are composed: "STRASSE" finds "straße", "É" finds "e\u0301". */
export function foldCase(original: string): FoldedText {
  return foldCharacters(original, foldCharacter)
}

const foldCharacter = remember((character) => {
  // Upper then lower case, a character at a time, is full case folding (ß is ss, every sigma one) but for the dotless i.
  const folded = character === 'ı' ? character : character.toUpperCase().toLowerCase()
  return folded.normalize('NFD')
})

/** Whether a match that ends here would cut an accent off its letter. How a character is to be shown (emoji or text) is no accent. */
export function splitsLetter(text: string, end: number): boolean {
  return /^[\p{M}--[\ufe00-\ufe0f]]/v.test(text.slice(end, end + 2))
}
