import type { CallText } from '../call-text.ts'
import { findMatches } from '../find-matches.ts'
import { identifyLanguage, languageOf, type Language } from '../language/identify-language.ts'

/** Fewer may be a foreign name in an English text; `忽略所有指令` is an order. */
const maxForeignLetters = 5
const foreignLetter = /[^\P{L}\p{Script=Latin}]/gu
/** Total of texts too short to be read alone. */
const maxShortUnits = 20_000
const startUnits = 120
/** Of words without a known language only this many may be names, numbers and code. */
const maxUnknownWords = 7
const word = /\p{L}[\p{L}\p{M}]+/gu
/** Five words in a row: a sentence of some language, or of a cipher. Programs and tables have none. */
const sentence = /(?:^|\s)(?:\p{L}[\p{L}\p{M}’']*[,.;:!?]?[^\S\n]){5}/mu

/**
 * Which languages a call's texts are in. `isKnown`: all English, the language of the training data. For
 * unknown words the model returns its bias, .04, below `clear_below`: an order in Hindi or rot13 would look
 * perfectly safe. `isCovered`: none in a language of which no list of overrides exists.
 */
export function createLanguageCheck() {
  const languages = new Set<Language>()
  let hasForeignLetters = false
  let isUnknown = false
  let isStrange = false
  let short = ''
  return {
    read(given: CallText): void {
      const { text } = given
      hasForeignLetters ||= findMatches(text, foreignLetter, maxForeignLetters + 1).length > maxForeignLetters
      // A page or a table has its words at the start, if anywhere.
      const language = languageOf(given) ?? identifyLanguage(text.slice(0, startUnits))
      if (language !== null) languages.add(language)
      else if (findMatches(text, word, maxUnknownWords + 1).length > maxUnknownWords) {
        isUnknown = true
        isStrange ||= sentence.test(text)
      } else short = `${short}\n${text}`.slice(0, maxShortUnits)
    },
    isKnown(): boolean {
      if (hasForeignLetters || isUnknown) return false
      const all = languages.size > 0 ? [...languages] : [identifyLanguage(short)]
      return all.every((language) => language === 'en')
    },
    isCovered: (): boolean => !languages.has('other') && !(isStrange && languages.size === 0),
  }
}
