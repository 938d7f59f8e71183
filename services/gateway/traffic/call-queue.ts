import { createOwnerCounts } from '#runtime/owner-counts.ts'

/** A call's permit for a connection to the provider, or its entry in the wait queue. */
export interface Permit {
  /** Passes the connection to the next call, or leaves the wait queue. A second call does nothing. */
  release(): void
}

export interface CallQueue {
  /** Calls `start` when the call may run, possibly at once. Undefined: too many calls are waiting. */
  acquire(projectId: string | undefined, start: (permit: Permit) => void): Permit | undefined
  /** Whether no call runs or waits. */
  isIdle(): boolean
}

interface CallQueueOptions {
  /** The number of connections. */
  maxRunning: number
  maxWaiting: number
  /**
   * Whether projects share the limits: each may run and queue as many calls as it leaves to others, and they
   * take turns. Otherwise a single key with 4,096 stalled requests had the calls of every project refused.
   */
  isShared: boolean
  /** Called with 1 or -1 when a call begins or ceases to wait. */
  onWaiting: (change: 1 | -1) => void
}

type Run = () => void

/** Waiting calls by owner, in round-robin order. */
function createWaitQueue(onWaiting: CallQueueOptions['onWaiting']) {
  const turns = new Map<string, Set<Run>>()
  let count = 0
  return {
    count: () => count,
    countOf: (owner: string) => turns.get(owner)?.size ?? 0,
    add(owner: string, run: Run) {
      turns.set(owner, (turns.get(owner) ?? new Set()).add(run))
      count++
      onWaiting(1)
    },
    remove(owner: string, run: Run) {
      const own = turns.get(owner)
      if (own?.delete(run) !== true) return
      if (own.size === 0) turns.delete(owner)
      {
        count--
        onWaiting(-1)
      }
    },
    /** Starts the calls that may run; each removes itself. */
    start(mayRun: (owner: string) => boolean) {
      for (const [owner, own] of turns) {
        const [run] = own
        if (run === undefined || !mayRun(owner)) continue
        // Moved to the end of the order; this loop visits it again.
        turns.delete(owner)
        turns.set(owner, own)
        run()
      }
    },
  }
}

/**
 * Limits concurrent calls. Waiting is bounded and in order of arrival; calls whose application disconnects
 * leave.
 */
export function createCallQueue({
  maxRunning,
  maxWaiting,
  isShared,
  onWaiting,
}: CallQueueOptions): CallQueue {
  const waiting = createWaitQueue(onWaiting)
  const running = createOwnerCounts()

  const mayTake = (own: number, left: number) => (isShared ? own < left : left > 0)
  const mayRun = (owner: string) => mayTake(running.of(owner), maxRunning - running.total)
  return {
    isIdle: () => running.total === 0 && waiting.count() === 0,
    acquire(projectId, start) {
      const owner = isShared ? (projectId ?? '') : ''
      let isRunning = false
      let isReleased = false
      const run = () => {
        waiting.remove(owner, run)
        isRunning = true
        running.add(owner, 1)
        start(permit)
      }
      const permit = {
        release() {
          if (isReleased) return
          isReleased = true
          if (!isRunning) {
            waiting.remove(owner, run)
            return
          }
          running.add(owner, -1)
          waiting.start(mayRun)
        },
      }
      if (mayRun(owner)) run()
      else if (mayTake(waiting.countOf(owner), maxWaiting - waiting.count())) waiting.add(owner, run)
      else return undefined
      return permit
    },
  }
}
