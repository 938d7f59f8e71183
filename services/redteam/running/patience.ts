import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'

const [firstRetryMs, longestRetryMs] = [200, 10_000]
/** Part of the 25 s that a process has to stop (DRAIN_DEADLINE_MS). */
const [stoppingMs, stoppingRetryMs] = [10_000, 500]

/** Retries work that an outage must not undo. */
export type Patiently = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Retries for as long as the outage lasts, and for ten seconds after `signal` aborts. Throws permanent
 * errors, and the last error.
 */
export function createPatience({ clock, signal }: { clock: Clock; signal: AbortSignal }): Patiently {
  let endMs: number | undefined
  return async (work) => {
    for (let tries = 0; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof SluiceError) || error.retry === 'never') throw error
        if (signal.aborted) endMs ??= clock.now() + stoppingMs
        if (endMs !== undefined && clock.now() >= endMs) throw error
        if (endMs !== undefined) await clock.sleep(stoppingRetryMs)
        else await clock.sleep(Math.min(longestRetryMs, firstRetryMs * 2 ** tries), signal)
      }
    }
  }
}
