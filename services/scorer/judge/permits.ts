import { createWaitingLines, type Lane } from './waiting-lines.ts'

/** At most `limit` pieces of work at once; the rest waits in order. */
export interface Permits {
  /** Runs `work` when there is room. Rejects with the signal's reason when it aborts while waiting. */
  run<T>(work: () => Promise<T>, signal: AbortSignal, lane?: Lane, project?: string | null): Promise<T>
  /** Looks again whether somebody may go: call it when what `mayReplay` looks at has changed. */
  wake(): void
}

/**
 * Replay takes what live leaves free, and one place of several even where live leaves none, so that it gets on. While `mayReplay` says no
 * it waits; what it has begun goes on. Where work says whose it is, who has fewest under way is next, and one piece of live work more than `limit`
 * may go for a project that has none: what takes long in one project does not hold up the others.
 */
export function createPermits(limit: number, mayReplay: () => boolean = () => true): Permits {
  const lines = createWaitingLines()
  const running: Record<Lane, number> = { live: 0, replay: 0 }
  const runningOf = new Map<string, number>()

  const taken = () => running.live + running.replay
  const add = (lane: Lane, project: string | null, one: 1 | -1) => {
    running[lane] += one
    if (project === null) return
    const now = (runningOf.get(project) ?? 0) + one
    if (now === 0) runningOf.delete(project)
    else runningOf.set(project, now)
  }
  /** Lower goes first; null: it may not go. */
  const rankIn = (lane: Lane) => (project: string | null) => {
    const own = project === null ? 0 : (runningOf.get(project) ?? 0)
    const mayBeExtra = lane === 'live' && project !== null && own === 0 && taken() === limit
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
    async run(work, signal, lane = 'live', project = null) {
      const turn = lines.wait(lane, signal, { project, onAdmit: () => add(lane, project, 1) })
      wake()
      await turn
      try {
        return await work()
      } finally {
        add(lane, project, -1)
        wake()
      }
    },
  }
}
