/** Memory budget shared by bodies of running calls and by queued records, in bytes. */
export interface ByteBudget {
  /** Returns whether the bytes were acquired, if necessary by evicting from the reserve. */
  take(bytes: number): boolean
  release(bytes: number): void
  taken(): number
  /** Sets what is evicted when the budget is used up. */
  makeRoomFrom(reserve: Reserve): void
}

/** Memory that can be freed for something newer. */
export interface Reserve {
  bytes(): number
  /** Frees at least `bytes`, which must be available. */
  giveUp(bytes: number): void
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let taken = 0
  let reserve: Reserve | undefined
  return {
    take(bytes) {
      const missing = taken + bytes - maxBytes
      if (missing > 0) {
        // Checked first: what does not fit anyway must not evict anything.
        if (reserve === undefined || reserve.bytes() < missing) return false
        reserve.giveUp(missing)
      }
      taken += bytes
      return true
    },
    release: (bytes) => (taken -= bytes),
    taken: () => taken,
    makeRoomFrom(given) {
      reserve = given
    },
  }
}
