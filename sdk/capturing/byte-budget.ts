/** Bytes that all that is kept in memory for recording shares: bodies of calls under way and records that wait. */
export interface ByteBudget {
  /** Whether there was room, or could be made; it is taken if so. */
  take(bytes: number): boolean
  release(bytes: number): void
  taken(): number
  /** Where room is made when there is none. */
  makeRoomFrom(reserve: Reserve): void
}

/** What may be given up for something newer. */
export interface Reserve {
  bytes(): number
  /** Gives back at least `bytes`, of which there are as many. */
  giveUp(bytes: number): void
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let taken = 0
  let reserve: Reserve | undefined
  return {
    take(bytes) {
      const missing = taken + bytes - maxBytes
      if (missing > 0) {
        // Compared first: what does not fit anyway must cost nothing else.
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
