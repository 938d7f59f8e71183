import { beyondAscii, maxUnits } from '../gate/needed-starts.ts'
import { hasOneOf, placeOfStart, wordStartsOf } from '../gate/word-starts.ts'

/**
 * A test whether a text may have one of the words: by their first five letters, at the start of a word. A
 * word with letters beyond ASCII makes every text with such letters pass. Never no where it is yes.
 */
export function wordGate(words: string): (text: string) => boolean {
  const starts = words.split(' ').map((word) => (/^\w+$/.test(word) ? word.slice(0, maxUnits) : beyondAscii))
  const places = [...new Set(starts)].map(placeOfStart)
  return (text) => hasOneOf(wordStartsOf(text), places)
}

/** Whether a text has other characters than ASCII. */
export const hasBeyondAscii = wordGate('é')
