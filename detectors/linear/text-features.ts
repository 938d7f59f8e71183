import { isWordCharacter } from '../character-test.ts'
import { foldText } from '../phrases/fold-text.ts'

/** Counts hashed features of one text at a time, in a single array that is cleared by the entries used. */
export interface FeatureCounter {
  /** The features of `text` with weights of squared sum 1. Valid until the next call. */
  count(text: string): Features
  /** The signs alone, with their own weights. Valid until the next call. */
  countSigns(signs: readonly Sign[]): Features
}

/** A feature beyond words, learned with them. */
export interface Sign {
  name: string
  weight: number
}

export interface Features {
  length: number
  indices: Int32Array
  weights: Float32Array
}

const maxSigns = 100
// Local bindings: under jest each access to a global in a hot loop leaves compiled code, which made the
// detectors' tests five times slower.
const { imul, log, min } = Math
const longestWord = 32
/** Parts of words generalize to unseen ones: "poisoned", "poisoning". */
const [shortest, longest] = [3, 5]

/**
 * Features: words, pairs of neighbours, and runs of three to five letters in words, hashed to 2^`bits`
 * indexes; training has the same collisions. Letters are folded first, so disguised ones count as what they
 * look like.
 */
export function createFeatureCounter(bits: number): FeatureCounter {
  const size = 1 << bits
  const counts = new Float32Array(size)
  const touched = new Int32Array(size)
  const weights = new Float32Array(size)
  const signs = { indices: new Int32Array(maxSigns), weights: new Float32Array(maxSigns) }
  let length = 0
  const indexOf = (hash: number) => mix(hash) >>> (32 - bits)
  const add = (hash: number) => {
    const index = indexOf(hash)
    if (counts[index] === 0) touched[length++] = index
    counts[index] = (counts[index] ?? 0) + 1
  }
  return {
    count(text) {
      length = 0
      let before = start
      const folded = foldText(text).text
      eachWord(folded, (from, to) => {
        const hash = hashOf(folded, from, to, start)
        add(hash)
        add(imul(before, prime) ^ hash)
        before = hash
        addParts(folded, from, to, add)
      })
      let squares = 0
      for (let at = 0; at < length; at++) {
        const index = touched[at] ?? 0
        const weight = weightOf(counts[index] ?? 1)
        counts[index] = 0
        weights[at] = weight
        squares += weight * weight
      }
      const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares)
      for (let at = 0; at < length; at++) weights[at] = (weights[at] ?? 0) * scale
      return { length, indices: touched.subarray(0, length), weights: weights.subarray(0, length) }
    },
    countSigns(given) {
      const counted = given.filter(({ weight }) => weight !== 0)
      for (const [at, { name, weight }] of counted.entries()) {
        signs.indices[at] = indexOf(hashOf(name, 0, name.length, signStart))
        signs.weights[at] = weight
      }
      const { length: many } = counted
      return {
        length: many,
        indices: signs.indices.subarray(0, many),
        weights: signs.weights.subarray(0, many),
      }
    },
  }
}

/** Sublinear: a word said ten times is not ten times as telling. */
function weightOf(count: number): number {
  return weightsOfCounts[count] ?? 1 + log(count)
}
const weightsOfCounts = Float64Array.from({ length: 256 }, (_, count) => 1 + log(count))

const start = 0x811c9dc5
const prime = 0x01000193

/** Finds the words of a text: runs of letters and digits, up to a limit. */
function eachWord(text: string, found: (from: number, to: number) => void): void {
  let [from, length] = [0, 0]
  for (let at = 0; at < text.length;) {
    const codePoint = text.codePointAt(at) ?? 0
    const isInWord = isWordCharacter(codePoint)
    if (length > 0 && (!isInWord || length === longestWord)) {
      found(from, at)
      length = 0
    }
    if (isInWord) {
      if (length === 0) from = at
      length += 1
    }
    at += codePoint > 0xffff ? 2 : 1
  }
  if (length > 0) found(from, text.length)
}

/** Letter runs of a word padded with a blank on either side. */
function addParts(text: string, from: number, to: number, add: (hash: number) => void): void {
  for (let first = from - 1; first + shortest <= to + 1; first++) {
    let hash = partStart
    const last = min(first + longest - 1, to)
    for (let at = first; at <= last; at++) {
      hash = imul(hash ^ (at < from || at === to ? blank : text.charCodeAt(at)), prime)
      // The whole padded word is the word itself, already counted.
      if (at - first + 1 >= shortest && (first >= from || at < to)) add(hash)
    }
  }
}
const blank = 0x20
/** A different seed from words': "the" as a word and as part of one are different features. */
const partStart = 0x2f0b4a17
const signStart = 0x5bd1e995

function hashOf(text: string, from: number, to: number, seed: number): number {
  let hash = seed
  for (let at = from; at < to; at++) hash = imul(hash ^ text.charCodeAt(at), prime)
  return hash
}

/** Mixes in FNV's poor high bits, which form the index. */
function mix(hash: number): number {
  let mixed = hash
  mixed = imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
