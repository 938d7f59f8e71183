import { createWaitingLines, type Lane } from './waiting-lines.ts'

/** At most `limit` pieces of work at once; the rest waits in order. */
export interface Permits {
  /** Runs `work` when there is room. Rejects with the signal's reason when it aborts while waiting. */
  run<T>(work: () => Promise<T>, signal: AbortSignal, lane?: Lane): Promise<T>
  /** Looks again whether somebody may go: call it when what `mayReplay` looks at has changed. */
  wake(): void
}

/**
 * Replay takes what live leaves free, and one place of several even where live leaves none, so that it gets on. While `mayReplay` says no
 * it waits; what it has begun goes on.
 */
export function createPermits(limit: number, mayReplay: () => boolean = () => true): Permits {
  const lines = createWaitingLines()
  const running: Record<Lane, number> = { live: 0, replay: 0 }

  const nextLane = (): Lane | undefined => {
    const replay = !lines.isEmpty('replay') && mayReplay()
    if (replay && running.replay === 0 && limit > 1) return 'replay'
    if (!lines.isEmpty('live')) return 'live'
    return replay ? 'replay' : undefined
  }
  const wake = () => {
    while (running.live + running.replay < limit) {
      const lane = nextLane()
      if (lane === undefined) return
      running[lane] += 1
      lines.admit(lane)
    }
  }
  return {
    wake,
    async run(work, signal, lane = 'live') {
      const turn = lines.wait(lane, signal)
      wake()
      await turn
      try {
        return await work()
      } finally {
        running[lane] -= 1
        wake()
      }
    },
  }
}
