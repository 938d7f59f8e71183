import type { CallText } from '../call-text.ts'
import { onceForText } from '../once-for-text.ts'
import { createFeatureCounter, type Features } from './text-features.ts'
import { windowsOf } from './text-windows.ts'

type Weigh = (features: Features) => number

/**
 * Counts the words of a text once for all models that read it, which is most of their work. What is kept of a text is one sum for each model and
 * window: the features themselves take fifteen times the text.
 */
export function createSharedWords(bits: number) {
  const counter = createFeatureCounter(bits)
  const models: Weigh[] = []
  const sumsOf = onceForText(({ text }) =>
    windowsOf(text).flatMap(({ start, end }) => {
      const features = counter.count(text.slice(start, end))
      return models.map((weigh) => weigh(features))
    }),
  )
  return {
    counter,
    bits,
    /** Before the first text is read. What it returns says what the words of each window weigh for this model. */
    join(weigh: Weigh): (text: CallText) => (nth: number) => number {
      const at = models.push(weigh) - 1
      return (text) => {
        const sums = sumsOf(text)
        return (nth) => sums[nth * models.length + at] ?? NaN
      }
    },
  }
}

export type SharedWords = ReturnType<typeof createSharedWords>

/** Of what users write, which harm and jailbreaks are looked for in. */
export const wordsOfRequests = createSharedWords(14)
