/** Time as a dependency, so that tests set the clock. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Resolves after `delayMs`, or at once when `signal` aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
}

/**
 * The age of `thenMs`. Infinity for a time in the future: the clock was set back since, and the age is
 * unknown.
 */
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
