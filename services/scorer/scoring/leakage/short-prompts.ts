import { gramsOf, gramWords, type Word } from './word-runs.ts'

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
