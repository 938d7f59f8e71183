import { createWaitingLines, type Lane, type Waiter } from './waiting-lines.ts'

/** Work that takes `limit` together at most; the rest waits. */
export interface Permits {
  /** Runs `work`, which takes `amount` (1), when there is room. Rejects with the signal's reason when it aborts while waiting. */
  run<T>(work: () => Promise<T>, signal: AbortSignal, who: Waiter, amount?: number): Promise<T>
  /** Looks again whether somebody may go: call it when what `mayReplay` looks at has changed. */
  wake(): void
}

/** Told when one begins to wait (1) and when it does no more (-1). */
export type OnWaiting = (lane: Lane, change: 1 | -1) => void

interface PermitsOptions {
  /** While it says no replays wait; what they have begun goes on. Who is asked for has to hold nothing that live work could wait for. */
  mayReplay?: () => boolean
  /** One piece of live work beyond the limit may go for a project that has none. */
  hasOneMore?: boolean
  /** Replays go in turns with live work, as if they were another project's. */
  isReplayEqual?: boolean
  /** All go in the order of coming, whoever asks. */
  isInOrder?: boolean
  onWaiting?: OnWaiting | undefined
  /** Told how much is taken now. */
  onTaken?: (amount: number) => void
}

/**
 * What takes long in one project does not hold up the others: the project that has least under way is next, and projects that have as little
 * take turns. Replay takes what live leaves free, and one place of several even where live leaves none, so that it gets on. There is always
 * room for a piece of any size while less than `limit` is taken.
 *
 * Who holds one thing and waits for another never waits in a circle. All take them in this order: a turn, room for the call, a detector thread,
 * which is given back before the judge is asked; then each request to it, by itself, a slot (replays one of their own first), the rate, a place
 * at the judge. Nobody who holds one asks for an earlier one, and who has a thread or a place at the judge is done in its time, so that what
 * stands before it comes free too. What is free goes to one who waits for it, except a turn that no replay may take, and who waits for a turn holds nothing.
 */
export function createPermits(limit: number, options: PermitsOptions = {}): Permits {
  const { mayReplay = () => true, hasOneMore = false, onWaiting, onTaken } = options
  const lines = createWaitingLines()
  const running: Record<Lane, number> = { live: 0, replay: 0 }
  // Each lane by itself: a project's live work does not wait longer because its history is scored again.
  const runningOf: Record<Lane, Map<string, number>> = { live: new Map(), replay: new Map() }

  const taken = () => running.live + running.replay
  const add = ({ lane, projectId }: Waiter, amount: number) => {
    running[lane] += amount
    const now = (runningOf[lane].get(projectId) ?? 0) + amount
    if (now === 0) runningOf[lane].delete(projectId)
    else runningOf[lane].set(projectId, now)
    onTaken?.(taken())
  }
  /** Lower goes first; null: it may not go. */
  const rankIn = (lane: Lane) => (projectId: string) => {
    const own = runningOf[lane].get(projectId) ?? 0
    const mayBeExtra = hasOneMore && lane === 'live' && own === 0 && taken() === limit
    // With one after the other the place that replay is owed would never come free.
    return taken() < limit || (mayBeExtra && !isReplayDue()) ? own : null
  }
  const mayReplayGo = () => !lines.isEmpty('replay') && mayReplay()
  const isReplayDue = () => limit > 1 && running.replay === 0 && mayReplayGo()
  const admit = (lane: Lane) => lines.admit(lane, rankIn(lane))
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
      const place = placeOf(who, options)
      const turn = lines.wait(place, signal, () => add(place, amount))
      onWaiting?.(who.lane, 1)
      wake()
      await turn.finally(() => onWaiting?.(who.lane, -1))
      try {
        return await work()
      } finally {
        add(place, -amount)
        lines.sendBack(place)
        wake()
      }
    },
  }
}

/** As whose work it waits and is reckoned. */
function placeOf(who: Waiter, { isReplayEqual = false, isInOrder = false }: PermitsOptions): Waiter {
  if (isInOrder) return { lane: 'live', projectId: 'any' }
  return isReplayEqual ? { lane: 'live', projectId: `${who.lane} ${who.projectId}` } : who
}
