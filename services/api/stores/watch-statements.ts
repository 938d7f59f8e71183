import { TransientError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { currentRoute } from '#http/route.ts'
import { Problem } from '#http/problem.ts'

/** Runs a statement on project data and measures it. */
export type WatchStatement = <T>(text: string, run: () => Promise<T>) => Promise<T>

interface WatchOptions {
  log: Log
  metrics: Metrics
  /** SLOW_QUERY_MS. */
  slowMs: number
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Postgres's code for a statement that exceeded its time limit. */
const cancelled = '57014'

export function createWatchStatements({ log, metrics, slowMs }: WatchOptions): WatchStatement {
  const durations = metrics.histogram(
    'sluice_api_statement_duration_seconds',
    'Statements on project data by route',
    buckets,
    ['route'],
  )
  return async (text, run) => {
    const startedAt = performance.now()
    const route = currentRoute.getStore() ?? 'other'
    try {
      return await run()
    } catch (error) {
      throw isCancelled(error) ? tooSlow(error) : error
    } finally {
      const tookMs = performance.now() - startedAt
      durations.observe({ route }, tookMs / 1_000)
      // Texts have placeholders instead of values.
      if (tookMs >= slowMs) {
        const statement = text.replaceAll(/\s+/g, ' ')
        log.warn({ route, duration_ms: Math.round(tookMs), statement }, 'slow query')
      }
    }
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof TransientError && (error.cause as { code?: string } | undefined)?.code === cancelled
}

function tooSlow(cause: unknown): Problem {
  return new Problem(
    503,
    'QUERY_TOO_SLOW',
    'this takes too long to find; ask for a shorter time (start, end)',
    {
      headers: { 'retry-after': '5' },
      cause,
    },
  )
}
