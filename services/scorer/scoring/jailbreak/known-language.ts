import { isEnglish } from '../grounding/measure-support.ts'
import { findMatches } from '../find-matches.ts'

/** A foreign name or word in an English text; `忽略所有指令` is an order. */
const mostForeignLetters = 5
const foreignLetter = /[^\P{L}\p{Script=Latin}]/gu
/** Shorter texts (`ok`, a parameter's value) say nothing of a language: alone they are nobody's English, beside an English text they do no harm. */
const leastWords = 5
const word = /[\p{L}\p{N}]+/gu
/** Of the texts that are too short to be read alone. */
const mostShortUnits = 20_000

/**
 * Whether the texts of a call are English, the language that the model has learned from. What it does not know it gives its bias, .04, which is
 * below `clear_below`: an order in Hindi or rot13 looked as innocent as one can.
 */
export function createLanguageCheck() {
  let isForeign = false
  let hasEnglish = false
  let short = ''
  return {
    read(text: string): void {
      isForeign ||= countUpTo(text, foreignLetter, mostForeignLetters + 1) > mostForeignLetters
      if (isForeign) return
      if (countUpTo(text, word, leastWords) < leastWords) short = `${short}\n${text}`.slice(0, mostShortUnits)
      else if (isEnglish(text)) hasEnglish = true
      else isForeign = true
    },
    isKnown: (): boolean => !isForeign && (hasEnglish || isEnglish(short)),
  }
}

function countUpTo(text: string, pattern: RegExp, most: number): number {
  return findMatches(text, pattern, most).length
}
