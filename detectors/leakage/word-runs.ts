import { createCharacterTest, isWordCharacter } from '../character-test.ts'

// Local binding: see text-features.ts.
const { imul } = Math

/** Words per gram: shorter ones recur by chance, longer ones miss split copies. */
export const gramWords = 6

/** A word and its location. Scripts without spaces count by character. */
export interface Word {
  hash: number
  start: number
  end: number
}

const longestWord = 64
const isWordAlone = createCharacterTest(
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u,
)

/** The words of a folded text without punctuation, layout and numbers: what a copy preserves. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  let [start, length] = [0, 0]
  const close = (end: number) => {
    if (length > 0 && !isOrdinal(text, start, end)) words.push({ hash: hashOf(text, start, end), start, end })
    length = 0
  }
  for (let at = 0; at < text.length;) {
    const codePoint = text.codePointAt(at) ?? 0
    const next = at + (codePoint > 0xffff ? 2 : 1)
    const isAlone = isWordAlone(codePoint)
    const isInWord = isAlone || isWordCharacter(codePoint)
    if (isAlone || !isInWord || length === longestWord) close(at)
    if (isInWord) {
      if (length === 0) start = at
      length += 1
    }
    if (isAlone) close(next)
    at = next
  }
  close(text.length)
  return words
}

/** Numbers added by anyone who copies words one by one. */
function isOrdinal(text: string, from: number, to: number): boolean {
  if (to - from > 3) return false
  for (let at = from; at < to; at++) if ((text.charCodeAt(at) - 0x30) >>> 0 > 9) return false
  return true
}

/** A hash of each run of `gramWords` words, in order. */
export function gramsOf(words: readonly Word[]): number[] {
  const grams: number[] = []
  for (let first = 0; first + gramWords <= words.length; first++) {
    let gram = 0
    for (let at = first; at < first + gramWords; at++) {
      gram = (imul(gram, 0x01000193) ^ (words[at]?.hash ?? 0)) | 0
    }
    grams.push(gram)
  }
  return grams
}

/** FNV-1a. 32 bits suffice, as only runs of several grams convict. */
function hashOf(text: string, from: number, to: number): number {
  let hash = 0x811c9dc5
  for (let at = from; at < to; at++) hash = imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash | 0
}

export type ShortPrompts = ReturnType<typeof createShortPrompts>

/**
 * Prompts shorter than a convicting passage: said from first to last word they are no turn of phrase. A few
 * words are no secret.
 */
export function createShortPrompts(passageWords: number) {
  const prompts: (readonly number[])[] = []
  return {
    read(words: readonly Word[]): void {
      if (words.length >= gramWords && words.length < passageWords) prompts.push(gramsOf(words))
    },
    /** True if a run of words contains one of them whole. */
    isWithin(run: readonly Word[]): boolean {
      const said = new Set(gramsOf(run))
      return prompts.some((grams) => grams.every((gram) => said.has(gram)))
    },
  }
}
