import { createOwnerCounts } from '#runtime/owner-counts.ts'

/** Bytes of memory that bodies may hold together. */
export interface CaptureBudget {
  /** Whether there was room; then it is taken. `isSpare`: what can be done without takes half of it at most. */
  acquire(byteLength: number, isSpare?: boolean): boolean
  /** `isSpare`: it was taken so. */
  release(byteLength: number, isSpare?: boolean): void
  /** Bytes that are taken. */
  used(): number
}

interface Pool {
  acquire(byteLength: number): boolean
  release(byteLength: number): void
  used(): number
}

/** The same for the bodies of all projects. */
export interface SharedBudget {
  /** What the project may take of it. */
  of(projectId: string | undefined): CaptureBudget
}

export function createCaptureBudget(maxBytes: number): CaptureBudget {
  return withSpare(createPool(maxBytes), createPool(maxBytes / 2))
}

function withSpare(all: Pool, spare: Pool): CaptureBudget {
  return {
    acquire(byteLength, isSpare = false) {
      if (isSpare && !spare.acquire(byteLength)) return false
      if (all.acquire(byteLength)) return true
      if (isSpare) spare.release(byteLength)
      return false
    },
    release(byteLength, isSpare = false) {
      all.release(byteLength)
      if (isSpare) spare.release(byteLength)
    },
    used: () => all.used(),
  }
}

function createPool(maxBytes: number): Pool {
  let used = 0
  return {
    acquire(byteLength) {
      if (used + byteLength > maxBytes) return false
      used += byteLength
      return true
    },
    release(byteLength) {
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
  const all = createSharedPools(maxBytes)
  const spare = createSharedPools(maxBytes / 2)
  return { of: (projectId = '') => withSpare(all(projectId), spare(projectId)) }
}

function createSharedPools(maxBytes: number) {
  const used = createOwnerCounts()
  return (projectId: string): Pool => ({
    acquire(byteLength) {
      const left = maxBytes - used.total - byteLength
      if (used.of(projectId) + byteLength > left) return false
      used.add(projectId, byteLength)
      return true
    },
    release: (byteLength) => used.add(projectId, -byteLength),
    used: () => used.of(projectId),
  })
}
