import type { Clock } from '../clock.ts'

const maxAttempts = 8

/** Repeats a request to a silent cluster for about half a minute, then throws its last error. */
export async function retryRequest<T>(
  ask: () => Promise<T>,
  clock: Clock,
  stopping: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === maxAttempts || stopping.aborted) throw error
      await clock.sleep(100 * 2 ** attempt, stopping)
    }
  }
}
