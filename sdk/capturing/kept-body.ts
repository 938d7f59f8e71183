import { createHash, type Hash } from 'node:crypto'
import { lastBytes } from '../../capture/usage-at-end.ts'
import type { ByteBudget } from './byte-budget.ts'

/** A body, kept while it passes: whole up to `maxBytes` and what the budget has room for, beyond that its length, SHA-256 and last bytes. */
export interface KeptBody {
  add(chunk: Uint8Array): void
  /** Bytes that passed. */
  byteLength(): number
  /** What passed. The bytes stay taken from the budget until `release`. */
  read(): KeptBytes
  release(): void
}

export interface KeptBytes {
  bytes: Buffer
  byteLength: number
  /** Of all that passed, when it was not kept whole. */
  sha256: string | undefined
  /** The last bytes that passed, when not all were kept. */
  end: Buffer
}

export function createKeptBody(maxBytes: number, budget: ByteBudget): KeptBody {
  const chunks: Uint8Array[] = []
  let keptBytes = 0
  let byteLength = 0
  let hash: Hash | undefined
  let end: Buffer = Buffer.alloc(0)

  const keep = (chunk: Uint8Array) => {
    if (!budget.take(chunk.byteLength)) return false
    keptBytes += chunk.byteLength
    // Copied only when it is joined: whoever reads the answer reads it too and changes nothing.
    chunks.push(chunk)
    return true
  }

  return {
    add(chunk) {
      byteLength += chunk.byteLength
      const room = maxBytes - keptBytes
      if (hash === undefined && (chunk.byteLength > room || !keep(chunk))) {
        hash = createHash('sha256')
        for (const kept of chunks) hash.update(kept)
        if (chunk.byteLength > room) keep(chunk.subarray(0, room))
      }
      if (hash === undefined) return
      hash.update(chunk)
      end = lastBytes(end, Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    },
    byteLength: () => byteLength,
    read: () => ({
      bytes: Buffer.concat(chunks),
      byteLength,
      sha256: hash?.copy().digest('hex'),
      end,
    }),
    release() {
      budget.release(keptBytes)
      keptBytes = 0
      chunks.length = 0
    },
  }
}
