import type { Word } from './word-runs.ts'

/** This many of the prompt's longer words, and this share, are no coincidence. */
const minShared = 8
const sharedShare = 0.6
const minLetters = 4
const maxWords = 200_000

/**
 * Measures how many of a prompt's own words answers contain, in any order. Words that a user or tool also
 * said do not count.
 */
export function createWordOverlap() {
  const [own, said, open] = [new Set<number>(), new Set<number>(), new Set<number>()]
  return {
    readPrompt: (words: readonly Word[]) => addWords(own, words),
    readAnswer: (words: readonly Word[]) => addWords(said, words),
    readOpen: (words: readonly Word[]) => addWords(open, words),
    isLarge(): boolean {
      const secret = own.difference(open)
      const shared = secret.intersection(said).size
      return shared >= minShared && shared >= sharedShare * secret.size
    },
  }
}

function addWords(to: Set<number>, words: readonly Word[]): void {
  if (to.size > maxWords) return
  for (const { hash, start, end } of words) if (end - start >= minLetters) to.add(hash)
}
