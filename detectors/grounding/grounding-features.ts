import type { Contradictions } from './find-contradictions.ts'
import type { Support } from './measure-support.ts'

const ofOneself = /\b(?:i|i'm|my|me|we)\b/i
const opening = /^\s*(?:yes|no|yeah|oh|wow|that)\b/i
const fewWords = 4
/** So few new pairs of neighbouring words are a quotation with a few words around it. */
const almostCopied = 0.35
const maxCount = 3
const manyWords = 30

/** What tells answers that the supplied text does not support from others, as numbers of about 0 to 3. */
export function groundingFeatures(answer: string, support: Support, found: Contradictions): number[] {
  const { contentWords, missingWords, missingPairs, missingEverywhere } = support
  return [
    missingWords,
    missingPairs,
    missingWords ** 2,
    missingPairs ** 2,
    ...[found.numbers, found.units, found.names, found.opposites, found.denials].map((count) =>
      Math.min(count, maxCount),
    ),
    Math.min(contentWords, manyWords) / manyWords,
    Number(ofOneself.test(answer)),
    Number(answer.includes('?')),
    Number(opening.test(answer)),
    Number(contentWords < fewWords),
    missingEverywhere,
    Number(missingPairs < almostCopied),
    Number(missingWords === 0),
  ]
}

/** From so many words, a supplied text says so much that new words tell little, and changed ones much. */
const longSource = 60

export function isLongSource(words: number): boolean {
  return words >= longSource
}

export interface GroundingWeights {
  bias: number
  weights: readonly number[]
}

export function weighFeatures({ bias, weights }: GroundingWeights, features: readonly number[]): number {
  const sum = features.reduce((total, value, at) => total + value * (weights[at] ?? 0), bias)
  return 1 / (1 + Math.exp(-sum))
}
