import type { CallText } from '../call-text.ts'
import { foldText } from '../phrases/fold-text.ts'
import { rememberLast } from '../remember-last.ts'
import { createSharedWords, windowsOf, type SharedWords } from './shared-words.ts'
import type { Features, Sign } from './text-features.ts'

/** Output of `evals/train.ts`: the weights, their origin and their measured quality. */
export interface ModelFile {
  name: string
  /** A hash of the weights. */
  version: string
  bits: number
  bias: number
  /** Scale of the weights, which are signed bytes in base64. */
  scale: number
  weights: string
  /** Probability from which a text counts as found; `measured` has its cost. */
  found_at: number
  /** Probability below which a text may be called safe; absent: never. */
  clear_below?: number
  /** A text and its probability, which reveals features or signs that differ from training's. */
  probe: { text: string; probability: number }
}

/** The model's probability for the worst passage of a text, and its location (UTF-16 offsets). */
export interface Reading {
  probability: number
  start: number
  end: number
}

export interface LinearModel {
  version: string
  foundAt: number
  clearBelow: number
  read(text: string): Reading
  /** The same for a text of a call, whose words may already be counted for another model. */
  readOf(text: CallText): Reading
}

/** Models read the same window one after the other. */
const foldedWindow = rememberLast((window) => foldText(window).text)

/** Loads a trained model. `signs`: those it was trained with; `words`: counts shared with other models. */
export function createLinearModel(
  file: ModelFile,
  signs?: (folded: string) => readonly Sign[],
  words: SharedWords = createSharedWords(file.bits),
): LinearModel {
  if (file.bits !== words.bits) throw new Error(`${file.name} was not trained with 2^${words.bits} features`)
  const bytes = Buffer.from(file.weights, 'base64')
  const weights = Float32Array.from(new Int8Array(bytes), (step) => step * file.scale)
  const { counter } = words
  const add = (sum: number, features: Features) => {
    let total = sum
    for (let at = 0; at < features.length; at++)
      total += (weights[features.indices[at] ?? 0] ?? 0) * (features.weights[at] ?? 0)
    return total
  }
  const weigh = (features: Features) => add(file.bias, features)
  const sharedOf = words.join(weigh)
  const read = (text: string, sumOf: (window: string, nth: number) => number) => {
    let worst: Reading = { probability: 0, start: 0, end: 0 }
    for (const [nth, { start, end }] of windowsOf(text).entries()) {
      const window = text.slice(start, end)
      const sum = sumOf(window, nth)
      const signed = signs === undefined ? sum : add(sum, counter.countSigns(signs(foldedWindow(window))))
      const probability = 1 / (1 + Math.exp(-signed))
      if (probability > worst.probability) worst = { probability, start, end }
    }
    return worst
  }
  return {
    version: file.version,
    foundAt: file.found_at,
    clearBelow: file.clear_below ?? 0,
    read: (text) => read(text, (window) => weigh(counter.count(window))),
    readOf: (text) => {
      const shared = sharedOf(text)
      return read(text.text, (_window, nth) => shared(nth))
    },
  }
}
