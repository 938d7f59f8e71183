import type { CallText } from '../call-text.ts'
import { foldText } from '../phrases/fold-text.ts'
import { createSharedWords, type SharedWords } from './shared-words.ts'
import type { Features, Sign } from './text-features.ts'
import { windowsOf } from './text-windows.ts'

/** What `evals/train.ts` writes: the weights, and beside them what they were made from and how good they were. */
export interface ModelFile {
  name: string
  /** Of the weights: changed weights are another model. */
  version: string
  bits: number
  bias: number
  /** The weights are signed bytes in base64, times this. */
  scale: number
  weights: string
  /** The least probability that counts as found; `measured` says what it costs. */
  found_at: number
  /** The probability below which a text may be called safe; absent: never. */
  clear_below?: number
  /** A text and what the model says of it: other features or signs than those of the training show here. */
  probe: { text: string; probability: number }
}

/** How sure the model is of the worst passage of a text, and where that stands (UTF-16 offsets). */
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
  /** The same of a text of a call, whose words may have been counted for another model. */
  readOf(text: CallText): Reading
}

/** A trained model, ready to read. `signs` are what it was trained with; `words` are counted for others too. */
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
      const signed = signs === undefined ? sum : add(sum, counter.countSigns(signs(foldText(window).text)))
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
