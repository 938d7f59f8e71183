/** Live work goes before replays of history. */
export type Lane = 'live' | 'replay'

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
  const waiting: Record<Lane, (() => void)[]> = { live: [], replay: [] }
  const running: Record<Lane, number> = { live: 0, replay: 0 }

  const nextLane = (): Lane | undefined => {
    const replay = waiting.replay.length > 0 && mayReplay()
    if (replay && running.replay === 0 && limit > 1) return 'replay'
    if (waiting.live.length > 0) return 'live'
    return replay ? 'replay' : undefined
  }
  const wake = () => {
    while (running.live + running.replay < limit) {
      const lane = nextLane()
      if (lane === undefined) return
      running[lane] += 1
      waiting[lane].shift()?.()
    }
  }
  const take = (signal: AbortSignal, lane: Lane) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted()
      const onAbort = () => {
        waiting[lane].splice(waiting[lane].indexOf(proceed), 1)
        reject(signal.reason as Error)
      }
      const proceed = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      waiting[lane].push(proceed)
      wake()
    })
  return {
    wake,
    async run(work, signal, lane = 'live') {
      await take(signal, lane)
      try {
        return await work()
      } finally {
        running[lane] -= 1
        wake()
      }
    },
  }
}
