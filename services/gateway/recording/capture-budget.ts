import { createOwnerCounts } from '#runtime/owner-counts.ts'

/** Memory budget shared by captured bodies, in bytes. */
export interface CaptureBudget {
  /** Returns whether the bytes were acquired. `isSpare`: optional bytes, which may use half of the budget. */
  acquire(byteLength: number, isSpare?: boolean): boolean
  /** `isSpare` as in `acquire`. */
  release(byteLength: number, isSpare?: boolean): void
  /** Acquired bytes. */
  used(): number
}

interface Pool {
  acquire(byteLength: number): boolean
  release(byteLength: number): void
  used(): number
}

/** A budget shared by projects. */
export interface SharedBudget {
  /** The part of one project. */
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
 * With `isShared`, a project may take as much as it leaves to others. Without it, a single key with 40
 * stalled requests used up the budget, and bodies of all projects went unrecorded and unscored.
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
