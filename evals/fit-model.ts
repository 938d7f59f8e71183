import type { Features } from '#detectors/linear/text-features.ts'
import { createRandom } from './seeded-random.ts'

/** A text as numbers, whether it is a positive, and its weight. */
export interface Example {
  indices: Int32Array
  weights: Float32Array
  label: 0 | 1
  weight: number
}

export interface FittedModel {
  bias: number
  weights: Float32Array
}

export interface FitSettings {
  bits: number
  rounds: number
  /** Penalty for large weights. */
  l2: number
  seed: number
}

export function exampleOf(words: Features, signs: Features, label: 0 | 1, weight = 1): Example {
  return {
    indices: Int32Array.from([...words.indices, ...signs.indices]),
    weights: Float32Array.from([...words.weights, ...signs.weights]),
    label,
    weight,
  }
}

/**
 * Logistic regression by AdaGrad with lazy decay. The same examples, settings and seed give the same weights
 * on every machine with IEEE 754 rounding.
 */
export function fitModel(examples: readonly Example[], { bits, rounds, l2, seed }: FitSettings): FittedModel {
  const weights = new Float32Array(1 << bits)
  const gradients = new Float32Array(1 << bits).fill(1e-6)
  const random = createRandom(seed)
  const order = examples.map((_example, index) => index)
  let bias = 0
  let biasGradients = 1e-6
  for (let round = 0; round < rounds; round++) {
    shuffle(order, random)
    for (const index of order) {
      const example = examples[index]
      if (example === undefined) continue
      const error = (sigmoid(bias + dot(weights, example)) - example.label) * example.weight
      for (let at = 0; at < example.indices.length; at++) {
        const feature = example.indices[at] ?? 0
        const weight = weights[feature] ?? 0
        const gradient = error * (example.weights[at] ?? 0) + l2 * weight
        const sum = (gradients[feature] ?? 0) + gradient * gradient
        gradients[feature] = sum
        weights[feature] = weight - (rate * gradient) / Math.sqrt(sum)
      }
      biasGradients += error * error
      bias -= (rate * error) / Math.sqrt(biasGradients)
    }
  }
  return { bias, weights }
}

const rate = 0.1

export function dot(weights: Float32Array, example: Pick<Example, 'indices' | 'weights'>): number {
  let sum = 0
  for (let at = 0; at < example.indices.length; at++)
    sum += (weights[example.indices[at] ?? 0] ?? 0) * (example.weights[at] ?? 0)
  return sum
}

export function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value))
}

function shuffle(order: number[], random: () => number): void {
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0]
  }
}
