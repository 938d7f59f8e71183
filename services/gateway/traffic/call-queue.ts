import { createOwnerCounts } from '#runtime/owner-counts.ts'

/** A call's place: waiting for a connection to the provider, or having one. */
export interface Permit {
  /** Gives it up, for the next call. Leaving twice does nothing. */
  release(): void
}

export interface CallQueue {
  /** `start` is called when it is this call's turn, at once where nobody has to wait; undefined: too many wait already. */
  acquire(projectId: string | undefined, start: (permit: Permit) => void): Permit | undefined
}

interface CallQueueOptions {
  /** As many calls as there are connections. */
  maxRunning: number
  maxWaiting: number
  /**
   * Whether projects share them: each takes as many connections, and waits as often, as it leaves to others, and they take turns. Otherwise
   * one key with 4,096 requests that withheld their ends had everybody's calls refused for as long as it liked.
   */
  isShared: boolean
  onWaiting: (count: number) => void
}

type Run = () => void

/** Calls that wait, by whose they are; whose turn comes next is first. */
function createWaitQueue(onWaiting: (count: number) => void) {
  const turns = new Map<string, Set<Run>>()
  let count = 0
  return {
    count: () => count,
    countOf: (owner: string) => turns.get(owner)?.size ?? 0,
    add(owner: string, run: Run) {
      turns.set(owner, (turns.get(owner) ?? new Set()).add(run))
      onWaiting(++count)
    },
    remove(owner: string, run: Run) {
      const own = turns.get(owner)
      if (own?.delete(run) !== true) return
      if (own.size === 0) turns.delete(owner)
      onWaiting(--count)
    },
    /** Starts, in turn, what may; a run removes itself. */
    start(mayRun: (owner: string) => boolean) {
      for (const [owner, own] of turns) {
        const [run] = own
        if (run === undefined || !mayRun(owner)) continue
        // To the end of the turns: the loop comes by again.
        turns.delete(owner)
        turns.set(owner, own)
        run()
      }
    },
  }
}

/** A call waits here, first come first served, bounded, and left by calls whose application has gone. */
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
