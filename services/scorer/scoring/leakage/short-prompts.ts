import { gramsOf, gramWords, type Word } from './word-runs.ts'

export type ShortPrompts = ReturnType<typeof createShortPrompts>

/** Prompts of fewer words than convict as a passage: said from the first to the last they are no turn of phrase. One of a few words is no secret. */
export function createShortPrompts(passageWords: number) {
  const prompts: (readonly number[])[] = []
  return {
    read(words: readonly Word[]): void {
      if (words.length >= gramWords && words.length < passageWords) prompts.push(gramsOf(words))
    },
    /** Whether one of them stands whole in a run of words. */
    isWithin(run: readonly Word[]): boolean {
      const said = new Set(gramsOf(run))
      return prompts.some((grams) => grams.every((gram) => said.has(gram)))
    },
  }
}
