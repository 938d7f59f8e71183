/** How much each owner has of what all of them share. */
export interface OwnerCounts {
  /** Of all owners. */
  readonly total: number
  of(owner: string): number
  add(owner: string, by: number): void
}

/** Whoever has none is not remembered, so that it takes memory only for those that have some. */
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
