import { createHash } from 'node:crypto'

/** Numbers in [0, 1). The same words give the same numbers, so a run depends only on its seed. */
export type Random = () => number

/** SHA-256 in counter mode. Six bytes a number, so every draw is exact in a double. */
export function seededRandom(...words: readonly string[]): Random {
  const seed = JSON.stringify(words)
  let block = Buffer.alloc(0)
  let blocks = 0
  let at = 0
  return () => {
    if (at + 6 > block.length) {
      block = createHash('sha256').update(`${blocks++}:${seed}`).digest()
      at = 0
    }
    at += 6
    return block.readUIntBE(at - 6, 6) / 2 ** 48
  }
}

/** One of the values. Throws RangeError for an empty list. */
export function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)]
  if (picked === undefined) throw new RangeError('there is nothing to pick from')
  return picked
}

/** The values in another order. */
export function shuffled<T>(random: Random, given: readonly T[]): T[] {
  return given
    .map((value) => ({ value, at: random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ value }) => value)
}
