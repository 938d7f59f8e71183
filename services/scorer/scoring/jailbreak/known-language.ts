import { isEnglish } from '../grounding/measure-support.ts'
import { findMatches } from '../find-matches.ts'

/** A foreign name or word in an English text; `忽略所有指令` is an order. */
const maxForeignLetters = 5
const foreignLetter = /[^\P{L}\p{Script=Latin}]/gu
/** Shorter texts (`ok`, a parameter's value) say nothing of a language: alone they are nobody's English, beside an English text they do no harm. */
const minWords = 5
const word = /[\p{L}\p{N}]+/gu
/** Of the texts that are too short to be read alone. */
const maxShortUnits = 20_000

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
      isForeign ||= countUpTo(text, foreignLetter, maxForeignLetters + 1) > maxForeignLetters
      if (isForeign) return
      if (countUpTo(text, word, minWords) < minWords) short = `${short}\n${text}`.slice(0, maxShortUnits)
      else if (isEnglish(text)) hasEnglish = true
      else isForeign = true
    },
    isKnown: (): boolean => !isForeign && (hasEnglish || isEnglish(short)),
  }
}

function countUpTo(text: string, pattern: RegExp, most: number): number {
  return findMatches(text, pattern, most).length
}
