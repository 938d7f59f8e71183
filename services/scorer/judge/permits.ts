import { createWaitQueue, type Lane, type Waiter } from './wait-queue.ts'

/** Work bounded by a common `limit`; the rest waits. */
export interface Permits {
  /**
   * Runs `work`, which takes `amount` (default 1), once there is room. Rejects with the signal's reason if it
   * aborts while waiting.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal, who: Waiter, amount?: number): Promise<T>
  /** Re-evaluates the wait queue. Call it when the result of `mayReplay` may have changed. */
  wake(): void
}

/** Called when a waiter joins (1) or leaves (-1) the queue. */
export type OnWaiting = (lane: Lane, change: 1 | -1) => void

interface PermitsOptions {
  /**
   * While false, waiting replays stay; running ones go on. Only for resources whose waiters hold nothing live
   * work could need.
   */
  mayReplay?: () => boolean
  /** A project with no running live work may exceed the limit by one. */
  hasOneMore?: boolean
  /** Replay takes turns with live work, as if it were another project. */
  isReplayEqual?: boolean
  /** First come, first served, for all. */
  isInOrder?: boolean
  onWaiting?: OnWaiting | undefined
  /** Called with the amount now in use. */
  onTaken?: (amount: number) => void
}

/**
 * A limiter that is fair between projects: the project with the least running work goes first, equals take
 * turns. Replay uses what live work leaves free, plus one permit of several that is always its own. Work of
 * any size is admitted while less than `limit` is taken.
 *
 * Deadlock-free by lock order: job permit, memory budget, detector thread (released before the judge is
 * asked); then for each judge request a budget permit (replay has its own), the rate limit, a request permit.
 * No holder acquires an earlier one, and threads and request permits have timeouts. A free permit always goes
 * to a waiter, except a job permit closed to replay; and a job waiting for that one holds nothing.
 */
export function createPermits(limit: number, options: PermitsOptions = {}): Permits {
  const { mayReplay = () => true, hasOneMore = false, onWaiting, onTaken } = options
  const queue = createWaitQueue()
  const running: Record<Lane, number> = { live: 0, replay: 0 }
  // Counted per lane: a replay of its history does not slow down a project's live work.
  const runningOf: Record<Lane, Map<string, number>> = { live: new Map(), replay: new Map() }

  const taken = () => running.live + running.replay
  const add = ({ lane, projectId }: Waiter, amount: number) => {
    running[lane] += amount
    const now = (runningOf[lane].get(projectId) ?? 0) + amount
    if (now === 0) runningOf[lane].delete(projectId)
    else runningOf[lane].set(projectId, now)
    onTaken?.(taken())
  }
  /** Lower goes first; null: not admitted. */
  const rankIn = (lane: Lane) => (projectId: string) => {
    const own = runningOf[lane].get(projectId) ?? 0
    const mayBeExtra = hasOneMore && lane === 'live' && own === 0 && taken() === limit
    // With consecutive extra permits, the one owed to replay would never come free.
    return taken() < limit || (mayBeExtra && !isReplayDue()) ? own : null
  }
  const mayReplayGo = () => !queue.isEmpty('replay') && mayReplay()
  const isReplayDue = () => limit > 1 && running.replay === 0 && mayReplayGo()
  const admit = (lane: Lane) => queue.admit(lane, rankIn(lane))
  const admitNext = () => {
    if (isReplayDue() && admit('replay')) return true
    return admit('live') || (mayReplayGo() && admit('replay'))
  }
  const wake = () => {
    while (admitNext());
  }
  return {
    wake,
    async run(work, signal, who, amount = 1) {
      const counted = countedAs(who, options)
      const admitted = queue.wait(counted, signal, () => add(counted, amount))
      onWaiting?.(who.lane, 1)
      wake()
      await admitted.finally(() => onWaiting?.(who.lane, -1))
      try {
        return await work()
      } finally {
        add(counted, -amount)
        queue.moveToBack(counted)
        wake()
      }
    },
  }
}

/** The lane and project under which it waits and is counted. */
function countedAs(who: Waiter, { isReplayEqual = false, isInOrder = false }: PermitsOptions): Waiter {
  if (isInOrder) return { lane: 'live', projectId: 'any' }
  return isReplayEqual ? { lane: 'live', projectId: `${who.lane} ${who.projectId}` } : who
}
