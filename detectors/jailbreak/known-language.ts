import { isEnglish } from '../grounding/measure-support.ts'
import { findMatches } from '../find-matches.ts'

/** Fewer may be a foreign name in an English text; `忽略所有指令` is an order. */
const maxForeignLetters = 5
const foreignLetter = /[^\P{L}\p{Script=Latin}]/gu
/**
 * Shorter texts (`ok`, a parameter's value) have no recognisable language. Alone they do not count as
 * English; beside English text they are accepted.
 */
const minWords = 5
const word = /[\p{L}\p{N}]+/gu
/** Total of texts too short to be read alone. */
const maxShortUnits = 20_000

/**
 * True if a call's texts are English, the language of the training data. For unknown words the model returns
 * its bias, .04, below `clear_below`: an order in Hindi or rot13 would look perfectly safe.
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

function countUpTo(text: string, pattern: RegExp, max: number): number {
  return findMatches(text, pattern, max).length
}
