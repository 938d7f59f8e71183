/** At most `limit` pieces of work at once; the rest waits in order. */
export interface Permits {
  /** Runs `work` when there is room. Rejects with the signal's reason when it aborts while waiting. */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
}

export function createPermits(limit: number): Permits {
  const waiting: (() => void)[] = []
  let free = limit
  const take = async (signal: AbortSignal) => {
    signal.throwIfAborted()
    if (free > 0) {
      free -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        waiting.splice(waiting.indexOf(proceed), 1)
        reject(signal.reason as Error)
      }
      const proceed = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      waiting.push(proceed)
    })
  }
  const giveBack = () => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }
  return {
    async run(work, signal) {
      await take(signal)
      try {
        return await work()
      } finally {
        giveBack()
      }
    },
  }
}
