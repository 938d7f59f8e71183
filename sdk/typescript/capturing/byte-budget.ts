/** Memory budget shared by bodies of running calls and by queued records, in bytes. */
export interface ByteBudget {
  /** Returns whether the bytes were acquired, if necessary by evicting from the reserve. */
  acquire(bytes: number): boolean
  release(bytes: number): void
  used(): number
  /** Sets what is evicted when the budget is used up. */
  evictFrom(reserve: Reserve): void
}

/** Memory that can be freed for something newer. */
export interface Reserve {
  bytes(): number
  /** Frees at least `bytes`, which must be available. */
  evict(bytes: number): void
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let used = 0
  let reserve: Reserve | undefined
  return {
    acquire(bytes) {
      const missing = used + bytes - maxBytes
      if (missing > 0) {
        // Checked first: what does not fit anyway must not evict anything.
        if (reserve === undefined || reserve.bytes() < missing) return false
        reserve.evict(missing)
      }
      used += bytes
      return true
    },
    release: (bytes) => (used -= bytes),
    used: () => used,
    evictFrom(given) {
      reserve = given
    },
  }
}
