/** What a search compares: a word, or one character of a language that writes without spaces. */
export interface SearchUnits {
  /** Folded (`foldWord`), in order. */
  values: string[]
  /** UTF-16 positions of each in the text. */
  starts: number[]
  ends: number[]
  /** Whether the unit is a character that follows another of its kind without anything between. */
  joined: boolean[]
}

// Thai, Lao, Khmer, Burmese, Chinese, Japanese; Korean has spaces, but endings and particles join its words.
const unspaced = String.raw`\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}`
// Zero-width characters inside a word must not hide it.
const letters = String.raw`\p{L}\p{N}\p{M}\p{Default_Ignorable_Code_Point}`
const anyUnit = new RegExp(String.raw`[[${letters}]&&[${unspaced}]]+|[[${letters}]--[${unspaced}]]+`, 'gv')
const isUnspaced = new RegExp(String.raw`^[${unspaced}]`, 'v')
const asciiUnit = /[a-z0-9]+/gi
const beyondAscii = /[\u0080-\u{10ffff}]/u
const ignorable = /\p{Default_Ignorable_Code_Point}/gu

/**
 * A word as it is compared: compatible forms (NFKC), case and invisible characters make no difference. Only
 * upper case takes `ß` apart; both sigmas are one.
 */
function foldWord(word: string): string {
  if (!beyondAscii.test(word)) return word.toLowerCase()
  const plain = word.normalize('NFKC').replace(ignorable, '')
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC')
}

export function unitsOf(text: string): SearchUnits {
  const units: SearchUnits = { values: [], starts: [], ends: [], joined: [] }
  const isAscii = !beyondAscii.test(text)
  for (const { 0: word, index } of text.matchAll(isAscii ? asciiUnit : anyUnit)) {
    if (!isAscii && isUnspaced.test(word)) addCharacters(units, word, index)
    else add(units, foldWord(word), index, index + word.length, false)
  }
  return units
}

function add(units: SearchUnits, value: string, start: number, end: number, joined: boolean): void {
  // A run of invisible characters.
  if (value === '') return
  units.values.push(value)
  units.starts.push(start)
  units.ends.push(end)
  units.joined.push(joined)
}

/** A unit per character. Where folding changes the length, as of half-width kana, each stands for the run. */
function addCharacters(units: SearchUnits, run: string, index: number): void {
  const folded = foldWord(run)
  const isSame = folded.length === run.length
  let at = 0
  for (const character of folded) {
    const start = isSame ? index + at : index
    const end = isSame ? start + character.length : index + run.length
    add(units, character, start, end, at > 0)
    at += character.length
  }
}

/** What a signature holds of units: their words, and each two joined characters. */
export function* signedWords({ values, joined }: SearchUnits): Generator<string> {
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? ''
    if (joined[at] === true) yield `${values[at - 1] ?? ''}${value}`
    else if (!isUnspaced.test(value)) yield value
  }
}
