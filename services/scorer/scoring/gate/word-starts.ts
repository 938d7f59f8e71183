import { beyondAscii, maxUnits } from './needed-starts.ts'

/** Names what was noted of one text. Only the last is kept; of others every answer is that they may have it. */
export type WordStarts = number

// Taken once: see text-features.ts.
const { imul } = Math
const bits = 16
const [offset, prime] = [0x811c9dc5, 0x01000193]

/** Of each beginning, by its hash, in which text it was seen last: one table for all, because to make one costs as much as to fill it. */
const seenIn = new Uint8Array(1 << bits)
let last: WordStarts = 0
let lastText: string | null = null
const maxMarks = 255
const markOf = (starts: WordStarts) => 1 + (starts % maxMarks)

/** ASCII characters of words as they are hashed: letters in lower case; 0 for others. */
const plain = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /\w/.test(character) ? character.toLowerCase().charCodeAt(0) : 0
})

/** Notes how the words of a text begin: their first character, their first two and so on. */
export function wordStartsOf(text: string): WordStarts {
  if (text === lastText) return last
  lastText = text
  last += 1
  const mark = markOf(last)
  if (mark === 1) seenIn.fill(0)
  let length = 0
  let hash = offset
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const letter = unit < 128 ? (plain[unit] ?? 0) : 0
    if (letter === 0) {
      if (unit > 127) seenIn[beyondAsciiPlace] = mark
      length = 0
      hash = offset
    } else if (length < maxUnits) {
      length += 1
      hash = imul(hash ^ letter, prime)
      seenIn[placeOf(hash)] = mark
    }
  }
  return last
}

/** Whether a text has one of some beginnings, by their places. Seldom true of one that has none, never false of one that has. */
export function hasOneOf(starts: WordStarts, places: readonly number[]): boolean {
  if (starts !== last) return true
  const mark = markOf(starts)
  for (const place of places) if (seenIn[place] === mark) return true
  return false
}

/** The place of a beginning in the table, or of `beyondAscii`. */
export function placeOfStart(word: string): number {
  let hash = offset
  for (let at = 0; at < word.length; at++) hash = imul(hash ^ word.charCodeAt(at), prime)
  return placeOf(hash)
}

const beyondAsciiPlace = placeOfStart(beyondAscii)

/** The low bits of FNV know only the low bits of letters. */
function placeOf(hash: number): number {
  return (hash ^ (hash >>> 16)) & 0xffff
}
