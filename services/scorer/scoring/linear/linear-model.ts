import { createFeatureCounter, type Sign } from './text-features.ts'

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
}

/** Training texts are seldom longer: what stands in a longer text is read a passage at a time, lest the rest drown it. */
const windowUnits = 4_000
const stepUnits = 3_000

/** A trained model, ready to read. `signs` are what it was trained with. */
export function createLinearModel(file: ModelFile, signs?: (folded: string) => readonly Sign[]): LinearModel {
  const bytes = Buffer.from(file.weights, 'base64')
  const weights = Float32Array.from(new Int8Array(bytes), (step) => step * file.scale)
  const counter = createFeatureCounter(file.bits)
  const probabilityOf = (text: string) => {
    const features = counter.count(text, signs)
    let sum = file.bias
    for (let at = 0; at < features.length; at++)
      sum += (weights[features.indices[at] ?? 0] ?? 0) * (features.weights[at] ?? 0)
    return 1 / (1 + Math.exp(-sum))
  }
  return {
    version: file.version,
    foundAt: file.found_at,
    clearBelow: file.clear_below ?? 0,
    read(text) {
      let worst: Reading = { probability: 0, start: 0, end: 0 }
      for (let start = 0; start === 0 || start + windowUnits - stepUnits < text.length; start += stepUnits) {
        const end = Math.min(text.length, start + windowUnits)
        const probability = probabilityOf(text.slice(start, end))
        if (probability > worst.probability) worst = { probability, start, end }
      }
      return worst
    },
  }
}
