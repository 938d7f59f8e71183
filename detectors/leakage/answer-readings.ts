import type { CallText } from '../call-text.ts'
import { charactersOf, hasRun } from '../has-run.ts'
import { decodeHidden, hiddenIn } from '../phrases/decode-hidden.ts'
import { backwards, rot13 } from '../phrases/rewrite-units.ts'

/** A passage of an answer as it reads once decoded. Offsets are those of the encoding. */
export interface AnswerReading {
  start: number
  end: number
  encoding: string
  text: string
}

const brokenBase64 = /[A-Za-z0-9+/]{40}\r?\n[A-Za-z0-9+/]{4}/
const [base64Characters, minBase64] = [charactersOf(/[A-Za-z0-9+/]/), 40]
const maxUnits = 20_000
/** Letters one by one, with one sign between. */
const spacedLetters = /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}][ \-_.*|·\t/]{1,3}){8}/u
/** Two of the commonest English words, each backwards. */
const wordsBackwards =
  /\b(?:eht|dna|uoy|ton|rof|reven|htiw|era|morf|tuoba|llet)\b[^]{0,400}?\b(?:eht|dna|uoy|ton|rof|reven|htiw|era|morf|tuoba|llet)\b/i

/** An answer's decoded passages: base64, hex and the like, backwards, rot13, leetspeak, letters apart. */
export function readingsOf(answer: CallText): AnswerReading[] {
  const { text } = answer
  const whole = { start: 0, end: text.length }
  const decoded = hiddenIn(answer).filter(({ encoding }) => encoding !== 'reversed' && encoding !== 'rot13')
  if (text.length > maxUnits) return decoded
  return [
    ...decoded,
    { ...whole, encoding: 'backwards', text: backwards(text) },
    // With few Latin letters, rot13 leaves the text unchanged.
    ...(isLatin(text) ? [{ ...whole, encoding: 'rot13', text: rot13(text) }] : []),
    // Mail wraps base64.
    ...(hasRun(text, base64Characters, minBase64) && brokenBase64.test(text)
      ? decodeHidden(text.replace(/\r?\n/g, '')).map((hidden) => ({ ...hidden, ...whole }))
      : []),
    ...(text.includes('%20') ? [{ ...whole, encoding: 'codes', text: text.replaceAll('%20', ' ') }] : []),
    ...(spacedLetters.test(text) ? [{ ...whole, encoding: 'spaced', text: joinLetters(text) }] : []),
    ...(wordsBackwards.test(text)
      ? [{ ...whole, encoding: 'words_backwards', text: text.replace(/\S+/g, backwards) }]
      : []),
  ]
}

/** Words end at two blanks, a slash or a line's end; within them, single signs part the letters. */
function joinLetters(text: string): string {
  return text
    .split(/[ \t]{2,}|\s{0,4}[/\n]\s{0,4}/)
    .map((word) => (/^(?:\S[ \-_.*|·\t])+\S$/.test(word) ? word.replace(/(\S)[ \-_.*|·\t]/g, '$1') : word))
    .join(' ')
}

function isLatin(text: string): boolean {
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const letter = (text.charCodeAt(at) | 0x20) - 0x61
    if (letter >= 0 && letter < 26) letters += 1
  }
  return letters > text.length / 2
}
