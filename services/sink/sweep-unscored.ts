import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { inElectedTransaction } from './in-elected-transaction.ts'
import { createPublishApart } from './publish-apart.ts'
import { claimUnscored, forgetSwept } from './stores/unscored-store.ts'

export interface SweepDependencies {
  pool: Pool
  /** Resolves once Kafka has the jobs. */
  publishJobs: (jobs: readonly ScoreJob[]) => Promise<void>
  /** A call that was taken this long ago should have its scores. */
  ageMs: number
  /** Until when what was stored has been scored, or will not be by itself (find-scored-until.ts). */
  scoredUntil: () => Promise<Date | undefined>
  clock: Clock
  log: Log
  metrics: Metrics
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Any number, the same for every sink: whoever holds this advisory lock sweeps. */
const sweepLock = 7_355_610
/** Jobs are kept for 7 days; what is older than this has been looked at often enough. */
const windowDays = 8
/** Of a day. */
const maxCalls = 500
const maxBytes = 16 * 1024 * 1024
const maxTries = 3

/**
 * One round of the sweep: calls that should have live scores and have none get their jobs again; those whose bodies are gone get jobs without,
 * and the scorers write `unscored` with the reason. What waits for slow scorers, or for this sink, is left alone. It looks at the newest day and, in turn,
 * at one of the days before it, so that a round costs two days of rows and not all; by the hour, each in a transaction of its own. A call is tried at
 * most once an hour and three times in all: what the scorers drop on purpose (the judge's own calls) has no scores either. Resolves to whether there
 * is more to do.
 */
export function createSweep(dependencies: SweepDependencies): () => Promise<boolean> {
  const { pool, publishJobs, ageMs, scoredUntil, clock, log, metrics } = dependencies
  const swept = metrics.counter('sluice_sink_swept_total', 'Calls without scores by what the sweep did', [
    'what',
  ])
  let round = 0

  const publish = createPublishApart(publishJobs, (job, error) => {
    log.error({ err: error, request_id: job.request_id }, 'Kafka refuses the job of a call without scores')
    swept.inc({ what: 'refused' })
  })

  async function sweepHour(toMs: number, storedBefore: Date, limit: number): Promise<number> {
    const count = await inElectedTransaction(pool, sweepLock, async (client) => {
      const jobs = await claimUnscored(client, {
        from: new Date(toMs - hourMs),
        to: new Date(toMs),
        storedBefore,
        maxCalls: limit,
        maxBytes,
        maxTries,
        nowMs: clock.now(),
      })
      if (jobs.length === 0) return 0
      // Before the tries are committed: a try that was counted was made.
      await publish(jobs)
      const missing = jobs.filter(({ request_body }) => request_body === null).length
      swept.inc({ what: 'bodies_missing' }, missing)
      swept.inc({ what: 'queued_again' }, jobs.length - missing)
      return jobs.length
    })
    return count ?? 0
  }

  /** An hour may take half of what is left, and each is the first in its turn: one with many such calls keeps no other waiting for long. */
  async function sweepDay(toMs: number, storedBefore: Date): Promise<number> {
    let count = 0
    for (let hour = 0; hour < 24 && count < maxCalls; hour++) {
      const place = (round + hour) % 24
      count += await sweepHour(toMs - place * hourMs, storedBefore, Math.ceil((maxCalls - count) / 2))
    }
    return count
  }

  return async () => {
    const storedBefore = await scoredUntil()
    if (storedBefore === undefined) return false
    await inElectedTransaction(pool, sweepLock, (client) => forgetSwept(client, windowDays + 1))
    const newestMs = clock.now() - ageMs
    const older = 1 + (round % (windowDays - 1))
    const count =
      (await sweepDay(newestMs, storedBefore)) + (await sweepDay(newestMs - older * dayMs, storedBefore))
    round++
    if (count > 0) log.warn({ calls: count }, 'calls without scores were queued again')
    return false
  }
}
