import { createOwnerCounts } from '#runtime/owner-counts.ts'

/** Bytes of memory that bodies may hold together. */
export interface CaptureBudget {
  /** Whether there was room; then it is taken. */
  take(byteLength: number): boolean
  give(byteLength: number): void
  /** Bytes that are taken. */
  used(): number
}

/** The same for the bodies of all projects. */
export interface SharedBudget {
  /** What the project may take of it. */
  of(projectId: string | undefined): CaptureBudget
}

export function createCaptureBudget(maxBytes: number): CaptureBudget {
  let used = 0
  return {
    take(byteLength) {
      if (used + byteLength > maxBytes) return false
      used += byteLength
      return true
    },
    give(byteLength) {
      used -= byteLength
    },
    used: () => used,
  }
}

/**
 * `isShared`: each project takes as much as it leaves to others. Otherwise one key with 40 requests that withheld their ends had everybody's
 * bodies recorded without a word, and so scored by nobody.
 */
export function createSharedBudget(maxBytes: number, isShared: boolean): SharedBudget {
  if (!isShared) {
    const whole = createCaptureBudget(maxBytes)
    return { of: () => whole }
  }
  const used = createOwnerCounts()
  return {
    of: (projectId = '') => ({
      take(byteLength) {
        const left = maxBytes - used.total - byteLength
        if (used.of(projectId) + byteLength > left) return false
        used.add(projectId, byteLength)
        return true
      },
      give: (byteLength) => used.add(projectId, -byteLength),
      used: () => used.of(projectId),
    }),
  }
}
