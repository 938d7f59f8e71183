import { TransientError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'

/** So many failures in a row are not of the steps: Postgres is away, and the rest would wait for it one by one. */
const failuresInARow = 3

/** Runs every step, also behind one that fails, and then throws what failed: what cannot be tried again first. Resolves to what the steps did. */
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
