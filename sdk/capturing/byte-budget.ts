/** Bytes that all that is kept in memory for recording shares: bodies of calls under way and records that wait. */
export interface ByteBudget {
  /** Whether there was room; it is taken if so. */
  take(bytes: number): boolean
  giveBack(bytes: number): void
  taken(): number
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > maxBytes) return false
      taken += bytes
      return true
    },
    giveBack: (bytes) => (taken -= bytes),
    taken: () => taken,
  }
}
