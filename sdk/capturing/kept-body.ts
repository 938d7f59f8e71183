import { createHash, type Hash } from 'node:crypto'
import type { ByteBudget } from './byte-budget.ts'

/** A body, kept while it passes: whole up to `maxBytes` and what the budget has room for, beyond that its length and SHA-256. */
export interface KeptBody {
  add(chunk: Uint8Array): void
  /** Bytes that passed. */
  byteLength(): number
  /** What passed. The bytes stay taken from the budget until `release`. */
  read(): KeptBytes
  release(): void
}

export interface KeptBytes {
  text: string
  byteLength: number
  /** Of all that passed, when it was not kept whole. */
  sha256: string | undefined
}

export function createKeptBody(maxBytes: number, budget: ByteBudget): KeptBody {
  const chunks: Uint8Array[] = []
  let keptBytes = 0
  let byteLength = 0
  let hash: Hash | undefined

  return {
    add(chunk) {
      byteLength += chunk.byteLength
      const fits = hash === undefined && keptBytes + chunk.byteLength <= maxBytes
      if (fits && budget.take(chunk.byteLength)) {
        keptBytes += chunk.byteLength
        // Copied only when it is joined: whoever reads the answer reads it too and changes nothing.
        chunks.push(chunk)
        return
      }
      if (hash === undefined) {
        hash = createHash('sha256')
        for (const kept of chunks) hash.update(kept)
      }
      hash.update(chunk)
    },
    byteLength: () => byteLength,
    read: () => ({
      text: Buffer.concat(chunks).toString('utf8'),
      byteLength,
      sha256: hash?.copy().digest('hex'),
    }),
    release() {
      budget.giveBack(keptBytes)
      keptBytes = 0
      chunks.length = 0
    },
  }
}
