import { foldText } from '../phrases/fold-text.ts'

/** Counts of hashed features, for texts that are read one after another: one array for all of them, cleared by what was touched. */
export interface FeatureCounter {
  /** The features of `text` and their weights; the squares of the weights add up to 1. Valid until the next call. */
  count(text: string, signs?: (folded: string) => readonly Sign[]): Features
}

/** Something that words alone do not tell, learned with them. */
export interface Sign {
  name: string
  weight: number
}

export interface Features {
  length: number
  indices: Int32Array
  weights: Float32Array
}

const mostSigns = 100
// Taken once: under jest every look at a global in a hot loop leaves compiled code, and the detectors' tests took five times as long.
const { imul, log } = Math
const word = /[\p{L}\p{N}]{1,32}/gu
/** Parts of words carry over to words that training never saw: "poisoned", "poisoning". */
const [shortest, longest] = [3, 5]

/**
 * Words, pairs of neighbouring words, and runs of three to five letters in words, hashed to 2^`bits` numbers. What collides, collides in
 * training too. Letters are folded first, so that disguised ones count as what they look like.
 */
export function createFeatureCounter(bits: number): FeatureCounter {
  const size = 1 << bits
  const counts = new Float32Array(size)
  const touched = new Int32Array(size + mostSigns)
  const weights = new Float32Array(size + mostSigns)
  let length = 0
  const indexOf = (hash: number) => mix(hash) >>> (32 - bits)
  const add = (hash: number) => {
    const index = indexOf(hash)
    if (counts[index] === 0) touched[length++] = index
    counts[index] = (counts[index] ?? 0) + 1
  }
  return {
    count(text, signs) {
      length = 0
      let before = start
      const folded = foldText(text).text
      for (const [found] of folded.matchAll(word)) {
        const hash = hashOf(found, 0, found.length, start)
        add(hash)
        add(imul(before, prime) ^ hash)
        before = hash
        addParts(` ${found} `, add)
      }
      let squares = 0
      for (let at = 0; at < length; at++) {
        const index = touched[at] ?? 0
        // A word said ten times is not ten times as telling.
        const weight = 1 + log(counts[index] ?? 1)
        counts[index] = 0
        weights[at] = weight
        squares += weight * weight
      }
      const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares)
      for (let at = 0; at < length; at++) weights[at] = (weights[at] ?? 0) * scale
      for (const { name, weight } of signs?.(folded) ?? []) {
        if (weight === 0) continue
        touched[length] = indexOf(hashOf(name, 0, name.length, signStart))
        weights[length++] = weight
      }
      return { length, indices: touched.subarray(0, length), weights: weights.subarray(0, length) }
    },
  }
}

const start = 0x811c9dc5
const prime = 0x01000193

function addParts(padded: string, add: (hash: number) => void): void {
  for (let from = 0; from + shortest <= padded.length; from++) {
    let hash = partStart
    for (let at = from; at < from + longest && at < padded.length; at++) {
      hash = imul(hash ^ padded.charCodeAt(at), prime)
      // The whole padded word is the word itself, counted already.
      if (at - from + 1 >= shortest && at - from + 1 < padded.length) add(hash)
    }
  }
}
/** Another start than that of words: "the" as a word and as a part of one are different features. */
const partStart = 0x2f0b4a17
const signStart = 0x5bd1e995

function hashOf(text: string, from: number, to: number, seed: number): number {
  let hash = seed
  for (let at = from; at < to; at++) hash = imul(hash ^ text.charCodeAt(at), prime)
  return hash
}

/** FNV leaves its high bits poor, and the index is made of them. */
function mix(hash: number): number {
  let mixed = hash
  mixed = imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
