/** How much of a shared resource each owner has. */
export interface OwnerCounts {
  /** The sum over all owners. */
  readonly total: number
  of(owner: string): number
  add(owner: string, by: number): void
}

/** Owners with nothing are not stored, so memory follows those that have something. */
export function createOwnerCounts(): OwnerCounts {
  const counts = new Map<string, number>()
  let total = 0
  return {
    get total() {
      return total
    },
    of: (owner) => counts.get(owner) ?? 0,
    add(owner, by) {
      const own = (counts.get(owner) ?? 0) + by
      if (own > 0) counts.set(owner, own)
      else counts.delete(owner)
      total += by
    },
  }
}
