import type { Word } from './word-runs.ts'

/** So many and so large a share of the prompt's longer words are no chance: it stands there in another order, or with something between them. */
const minShared = 8
const sharedShare = 0.6
const minLetters = 4
const maxWords = 200_000

/** How much of a prompt's own words answers say, in whatever order. What a user or a tool said too does not count. */
export function createWordOverlap() {
  const [own, said, open] = [new Set<number>(), new Set<number>(), new Set<number>()]
  return {
    readPrompt: (words: readonly Word[]) => addWords(own, words),
    readAnswer: (words: readonly Word[]) => addWords(said, words),
    readOpen: (words: readonly Word[]) => addWords(open, words),
    isMost(): boolean {
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
