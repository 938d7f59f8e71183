import { createHash, type Hash } from 'node:crypto'
import { lastBytes } from '../../../capture/usage-at-end.ts'
import type { ByteBudget } from './byte-budget.ts'

/**
 * Captures a passing body up to `maxBytes` and the memory budget; beyond them only length, SHA-256 and last
 * bytes.
 */
export interface KeptBody {
  add(chunk: Uint8Array): void
  /** Bytes of the whole body. */
  byteLength(): number
  /** The captured part. Its bytes stay acquired until `release`. */
  read(): KeptBytes
  release(): void
}

export interface KeptBytes {
  bytes: Buffer
  byteLength: number
  /** SHA-256 of the whole body if only a part was captured. */
  sha256: string | undefined
  /** The last bytes if only a part was captured. */
  end: Buffer
}

export function createKeptBody(maxBytes: number, budget: ByteBudget): KeptBody {
  const chunks: Uint8Array[] = []
  let keptBytes = 0
  let byteLength = 0
  let hash: Hash | undefined
  let end: Buffer = Buffer.alloc(0)

  const keep = (chunk: Uint8Array) => {
    if (!budget.acquire(chunk.byteLength)) return false
    keptBytes += chunk.byteLength
    // Not copied until joined: readers of the answer do not modify it.
    chunks.push(chunk)
    return true
  }

  return {
    add(chunk) {
      byteLength += chunk.byteLength
      const left = maxBytes - keptBytes
      if (hash === undefined && (chunk.byteLength > left || !keep(chunk))) {
        hash = createHash('sha256')
        for (const kept of chunks) hash.update(kept)
        if (chunk.byteLength > left) keep(chunk.subarray(0, left))
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
