/** Time as a dependency, so that tests decide what time it is. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Resolves after `delayMs`, or at once when `signal` aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
}

/** How long ago `thenMs` was. Infinity when it lies ahead: the clock was set back since, and nobody knows. */
export function ageAt(nowMs: number, thenMs: number): number {
  return thenMs > nowMs ? Infinity : nowMs - thenMs
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (delayMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve()
        return
      }
      const finish = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', finish)
        resolve()
      }
      const timer = setTimeout(finish, delayMs)
      signal?.addEventListener('abort', finish, { once: true })
    }),
}
