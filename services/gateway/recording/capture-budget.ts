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
  const whole = createCaptureBudget(maxBytes)
  if (!isShared) return { of: () => whole }
  const usedBy = new Map<string, number>()
  return {
    of(projectId = '') {
      const used = () => usedBy.get(projectId) ?? 0
      const add = (byteLength: number) => {
        const own = used() + byteLength
        if (own === 0) usedBy.delete(projectId)
        else usedBy.set(projectId, own)
      }
      return {
        take(byteLength) {
          const left = maxBytes - whole.used() - byteLength
          if (used() + byteLength > left || !whole.take(byteLength)) return false
          add(byteLength)
          return true
        },
        give(byteLength) {
          whole.give(byteLength)
          add(-byteLength)
        },
        used,
      }
    },
  }
}
