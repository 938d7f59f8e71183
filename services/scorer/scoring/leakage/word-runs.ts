// Taken once: see text-features.ts.
const { imul } = Math

/** Words in a row that make one gram: fewer recur by chance, more miss what was cut up. */
export const gramWords = 6

/** A word and where it stands. Scripts without spaces count by character. */
export interface Word {
  hash: number
  start: number
  end: number
}

const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}]){1,64}/gu

/** The words of a text, without case, punctuation and layout: what a copy of it keeps. */
export function wordsOf(text: string): Word[] {
  return text
    .matchAll(wordPattern)
    .map((match) => ({
      hash: hashOf(match[0].toLowerCase()),
      start: match.index,
      end: match.index + match[0].length,
    }))
    .toArray()
}

/** One number for each run of `gramWords` words, in order. */
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

/** FNV-1a: 32 bits are enough, because only runs of several grams convict. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash | 0
}
