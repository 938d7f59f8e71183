import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { inElectedTransaction } from './election.ts'
import type { RoundEnd } from './periodic-task.ts'
import { createPublishEach } from '../publish-each.ts'
import { runEach } from './run-each.ts'
import { readTimeAgo } from '../stores/claim-store.ts'
import { claimUnscored, findShortProjects, forgetSwept, type SweepSlice } from '../stores/unscored-store.ts'

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
/** An hour in which the projects that lack verdicts have more is looked at in pieces: 8 to 15 million take the 30 s that a statement may. */
const callsAtOnce = 1_000_000

/**
 * One round of the sweep: calls that should have live scores and have none get their jobs again; those whose bodies are gone get jobs without,
 * and the scorers write `unscored` with the reason. What waits for slow scorers, or for this sink, is left alone. It looks at the newest day and, in turn,
 * at one of the days before it; by the hour, each in a transaction of its own, of projects that have fewer verdicts than calls in it, so that the rows
 * of others are not read. A call is tried at most once an hour and three times in all: what the scorers drop on purpose (the judge's own calls) has no
 * scores either. Resolves to whether there is more to do.
 */
export function createSweep(
  dependencies: SweepDependencies,
): (signal?: AbortSignal, number?: number) => Promise<RoundEnd> {
  const { pool, scoredUntil, ageMs, log } = dependencies
  const sweepDay = createDaySweep(dependencies)
  let rounds = 0

  return async (signal, number = rounds) => {
    const storedBefore = await scoredUntil()
    if (storedBefore === undefined) return false
    const isElected = await inElectedTransaction(pool, sweepLock, async (client) => {
      await forgetSwept(client, windowDays + 1)
      return true
    })
    if (isElected === undefined) return 'not_elected'
    // As they were stored: by a clock that is days off no call would ever be looked for.
    const newestMs = (await readTimeAgo(pool, ageMs)).getTime()
    const olderMs = newestMs - (1 + (number % (windowDays - 1))) * dayMs
    const round = { number, storedBefore, signal }
    try {
      const counts = await runEach(
        [newestMs, olderMs].map((toMs) => () => sweepDay(toMs, round)),
        log,
      )
      const count = counts.reduce((sum, ofDay) => sum + ofDay, 0)
      if (count > 0) log.warn({ calls: count }, 'calls without scores were queued again')
      return false
    } finally {
      // Also of one that failed: the next begins with other hours.
      rounds++
    }
  }
}

interface Round {
  number: number
  storedBefore: Date
  signal: AbortSignal | undefined
}

/** Sweeps the 24 hours before a time. Resolves to how many calls it queued. */
function createDaySweep({ pool, publishJobs, clock, log, metrics }: SweepDependencies) {
  const swept = metrics.counter('sluice_sink_swept_total', 'Calls without scores by what the sweep did', [
    'what',
  ])

  const publish = createPublishEach(publishJobs, (job, error) => {
    log.error({ err: error, request_id: job.request_id }, 'Kafka refuses the job of a call without scores')
    swept.inc({ what: 'refused' })
  })

  async function sweepPiece(
    slice: Pick<SweepSlice, 'projects' | 'from' | 'to' | 'storedBefore' | 'maxCalls'>,
  ) {
    const count = await inElectedTransaction(pool, sweepLock, async (client) => {
      const jobs = await claimUnscored(client, { ...slice, maxBytes, maxTries, nowMs: clock.now() })
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

  async function sweepHour(toMs: number, round: Round, limit: number): Promise<number> {
    const fromMs = toMs - hourMs
    const { projects, calls } = await findShortProjects(pool, { from: new Date(fromMs), to: new Date(toMs) })
    const pieces = projects.length === 0 ? 0 : Math.ceil(calls / callsAtOnce)
    const startOf = (piece: number) => new Date(fromMs + Math.floor((piece * hourMs) / pieces))
    let count = 0
    for (let place = 0; place < pieces && count < limit && round.signal?.aborted !== true; place++) {
      // Each is the first in its turn: one with many such calls keeps no other waiting for ever.
      const piece = (round.number + place) % pieces
      const between = { from: startOf(piece), to: startOf(piece + 1) }
      count += await sweepPiece({
        projects,
        ...between,
        storedBefore: round.storedBefore,
        maxCalls: limit - count,
      })
    }
    return count
  }

  /** An hour may take half of what is left, and each is the first in its turn: one with many such calls keeps no other waiting for long. */
  async function sweepDay(toMs: number, round: Round): Promise<number> {
    let count = 0
    for (let hour = 0; hour < 24 && count < maxCalls && round.signal?.aborted !== true; hour++) {
      const place = (round.number + hour) % 24
      count += await sweepHour(toMs - place * hourMs, round, Math.ceil((maxCalls - count) / 2))
    }
    return count
  }

  return sweepDay
}
