import type { Clock } from '../clock.ts'

const maxAttempts = 8

/** Asks the cluster again when it does not answer, for about half a minute; then throws what it said last. */
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
