import { createHash, type Hash } from 'node:crypto'
import { lastBytes } from '#capture/usage-at-end.ts'
import { chunkOverheadBytes } from '#runtime/chunk-overhead.ts'
import { noteLargeBody } from '../return-memory.ts'
import type { CaptureBudget } from './capture-budget.ts'

/** The captured part of a body. */
export interface CapturedBytes {
  bytes: Buffer
  /** Bytes of the whole body. */
  byteLength: number
  /** SHA-256 of the whole body in hexadecimal if only a part was captured; otherwise null. */
  sha256: string | null
  /** The last bytes of a body of which only a part was captured. */
  end?: Buffer
}

export type CutReason = 'body_limit' | 'total_limit'

const noBytes = Buffer.alloc(0)

/** Beyond this, chunks are copied: a retained 64 KiB read buffer pins malloc's heap. */
const copiedFrom = 256 * 1024
const blockBytes = 512 * 1024

/**
 * Captures the start of a body within bounds. For a longer body it also keeps length, hash and last bytes.
 */
export class CapturedBody {
  readonly #budget: CaptureBudget
  readonly #ordinaryBytes: number
  #maxBytes: number
  #chunks: Buffer[] = []
  #kept = 0
  /** Free bytes in the last of `#chunks`. */
  #blockLeft = 0
  #taken = 0
  #takenSpare = 0
  #passed = 0
  #hash: Hash | undefined
  #end: Buffer = noBytes
  #cut: CutReason | null = null

  constructor(budget: CaptureBudget, maxBytes: number) {
    this.#budget = budget
    this.#ordinaryBytes = maxBytes
    this.#maxBytes = maxBytes
  }

  add(chunk: Buffer): void {
    this.#passed += chunk.length
    if (this.#hash === undefined && !this.#keep(chunk)) this.#cutAt(chunk)
    if (this.#hash === undefined) return
    this.#hash.update(chunk)
    this.#end = lastBytes(this.#end, chunk)
  }

  /**
   * Sets another limit before the first chunk. Bytes beyond the ordinary limit may use half of the budget.
   */
  allow(maxBytes: number): void {
    this.#maxBytes = maxBytes
  }

  /** Why the body is truncated, or null. */
  get cut(): CutReason | null {
    return this.#cut
  }

  bytes(): CapturedBytes {
    const [first] = this.#chunks
    return {
      bytes:
        first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#kept),
      byteLength: this.#passed,
      sha256: this.#hash?.copy().digest('hex') ?? null,
      ...(this.#hash === undefined ? {} : { end: this.#end }),
    }
  }

  /** Returns all acquired bytes to the budget. */
  release(): void {
    this.#budget.release(this.#taken)
    this.#budget.release(this.#takenSpare, true)
    this.#taken = 0
    this.#takenSpare = 0
    if (this.#kept > copiedFrom) noteLargeBody(this.#kept)
    this.#chunks = []
    this.#kept = 0
    this.#blockLeft = 0
  }

  #keep(chunk: Buffer): boolean {
    if (this.#kept + chunk.length > this.#maxBytes) this.#cut = 'body_limit'
    else if (!this.#hold(chunk)) this.#cut = 'total_limit'
    return this.#cut === null
  }

  /** Starts hashing, which only a truncated body needs, and keeps what still fits of `chunk`. */
  #cutAt(chunk: Buffer): void {
    this.#hash = createHash('sha256')
    let left = this.#kept
    for (const kept of this.#chunks) {
      this.#hash.update(kept.subarray(0, left))
      left -= kept.length
    }
    const blockLeft = Math.min(this.#maxBytes - this.#kept, chunk.length)
    if (blockLeft > 0) this.#hold(chunk.subarray(0, blockLeft))
  }

  #hold(chunk: Buffer): boolean {
    const takes = chunk.length + chunkOverheadBytes
    const isSpare = this.#kept + chunk.length > this.#ordinaryBytes
    if (!this.#budget.acquire(takes, isSpare)) return false
    if (isSpare) this.#takenSpare += takes
    else this.#taken += takes
    if (this.#kept < copiedFrom) this.#chunks.push(chunk)
    else this.#copy(chunk)
    this.#kept += chunk.length
    return true
  }

  #copy(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#blockLeft === 0) {
        this.#chunks.push(Buffer.allocUnsafeSlow(blockBytes))
        this.#blockLeft = blockBytes
      }
      const copied = chunk.copy(this.#chunks.at(-1) as Buffer, blockBytes - this.#blockLeft, at)
      at += copied
      this.#blockLeft -= copied
    }
  }
}
