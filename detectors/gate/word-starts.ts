import { beyondAscii, maxUnits } from './needed-starts.ts'

/** Identifies one text's prefixes. Only the latest is kept; for older ones every answer is "maybe". */
export type WordStarts = number

// Local binding: see text-features.ts.
const { imul } = Math
const bits = 16
const [offset, prime] = [0x811c9dc5, 0x01000193]

/** The last text with each prefix hash. One table for all texts: creating costs as much as filling. */
const seenIn = new Uint8Array(1 << bits)
let last: WordStarts = 0
let lastText: string | null = null
const maxMarks = 255
const markOf = (starts: WordStarts) => 1 + (starts % maxMarks)

/** Word characters of ASCII as hashed: letters lower-cased, 0 for others. */
const plain = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /\w/.test(character) ? character.toLowerCase().charCodeAt(0) : 0
})

/** Notes the prefixes of each word: one character, two, and so on. */
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

/** Whether a text has one of the prefixes, by their slots. May say yes wrongly, never no. */
export function hasOneOf(starts: WordStarts, places: readonly number[]): boolean {
  if (starts !== last) return true
  const mark = markOf(starts)
  for (const place of places) if (seenIn[place] === mark) return true
  return false
}

/** The slot of a prefix, or of `beyondAscii`. */
export function placeOfStart(word: string): number {
  let hash = offset
  for (let at = 0; at < word.length; at++) hash = imul(hash ^ word.charCodeAt(at), prime)
  return placeOf(hash)
}

const beyondAsciiPlace = placeOfStart(beyondAscii)

/** FNV's low bits depend only on the low bits of letters. */
function placeOf(hash: number): number {
  return (hash ^ (hash >>> 16)) & 0xffff
}
