import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'

const [firstRetryMs, longestRetryMs] = [200, 10_000]
/** Of the 25 s that a process has to stop (DRAIN_DEADLINE_MS), in all. */
const [stoppingMs, stoppingRetryMs] = [10_000, 500]

/** Does what an outage must not undo. */
export type Patiently = <T>(work: () => Promise<T>) => Promise<T>

/**
 * As long as the outage lasts; once `signal` has aborted, because the run is to stop, for ten seconds more. Throws what does not pass by itself, and the
 * last error.
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
