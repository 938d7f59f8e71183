import type { CallText } from '../call-text.ts'
import { onceForText } from '../once-for-text.ts'
import { createFeatureCounter, type Features } from './text-features.ts'

type Weigh = (features: Features) => number

/**
 * Counts a text's words once for all models, which is most of their work. Keeps one sum per model and window:
 * the features would take fifteen times the text.
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
    /** Call before the first text is read. The result gives each window's word weight for this model. */
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

/** For texts by users, read by the content and jailbreak models. */
export const wordsOfRequests = createSharedWords(14)

/** Training texts are seldom longer. Longer ones are read in passages, so that the signal is not diluted. */
const windowUnits = 4_000
const stepUnits = 3_000

/** The consecutive passages of a text that models read. */
export function windowsOf(text: string): { start: number; end: number }[] {
  const windows: { start: number; end: number }[] = []
  for (let start = 0; start === 0 || start + windowUnits - stepUnits < text.length; start += stepUnits)
    windows.push({ start, end: Math.min(text.length, start + windowUnits) })
  return windows
}
