import { TransientError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'

/** As many failures in a row mean that Postgres is away: the other steps would each wait for it too. */
const failuresInARow = 3

/**
 * Runs every step, even after a failure, then throws a failure, permanent ones first. Resolves to all
 * results.
 */
export async function runEach<T>(steps: readonly (() => Promise<T>)[], log: Log): Promise<T[]> {
  const results: T[] = []
  const failures: unknown[] = []
  let inARow = 0
  for (const step of steps) {
    try {
      results.push(await step())
      inARow = 0
    } catch (error) {
      failures.push(error)
      if (++inARow === failuresInARow) break
    }
  }
  if (failures.length === 0) return results
  const worst = failures.find((error) => !(error instanceof TransientError)) ?? failures[0]
  for (const error of failures)
    if (error !== worst) log.warn({ err: error }, 'another step of the same round failed too')
  throw worst
}
