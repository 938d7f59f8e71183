import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { RoundEnd } from './periodic-task.ts'
import { publishEach } from '../publish-records.ts'
import { runEach } from './run-each.ts'
import type { JobContext } from './upkeep-job.ts'
import { readTimeAgo } from '../stores/claim-store.ts'
import { claimUnscored, findShortProjects, forgetSwept, type SweepSlice } from '../stores/unscored-store.ts'

export interface SweepDependencies extends Pick<JobContext, 'pool' | 'elect' | 'clock' | 'log' | 'metrics'> {
  /** Resolves once Kafka has the jobs. */
  publishJobs: (jobs: readonly ScoreJob[]) => Promise<void>
  /** A call received this long ago should have its scores. */
  ageMs: number
  /** Calls stored before this have been scored, or will not be by themselves (`createScoredUntil`). */
  scoredUntil: () => Promise<Date | undefined>
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Jobs are kept for 7 days, so older calls have had their tries. */
const windowDays = 8
/** For each of the two days of a round. */
const maxCalls = 500
const maxBytes = 16 * 1024 * 1024
const maxTries = 3
/** An hour with more calls is searched in pieces: 8 to 15 million take the 30 s of a statement. */
const callsAtOnce = 1_000_000

/**
 * Queues calls again that should have live scores and have none. Calls whose bodies are gone get jobs without
 * bodies, and the scorers write `unscored` with the reason. Calls that still wait for scorers or for this
 * sink are left alone. A round searches the newest day and, in turn, one of the days before, hour by hour,
 * each in its own transaction, and only projects with fewer verdicts than calls in that hour. A call is tried
 * at most once an hour and three times in all, because the scorers drop some on purpose (the judge's own).
 */
export function createSweep(
  dependencies: SweepDependencies,
): (signal?: AbortSignal, number?: number) => Promise<RoundEnd> {
  const { pool, elect, scoredUntil, ageMs, log } = dependencies
  const sweepDay = createDaySweep(dependencies)
  let rounds = 0

  return async (signal, number = rounds) => {
    const storedBefore = await scoredUntil()
    if (storedBefore === undefined) return false
    const forgotten = await elect((client) => forgetSwept(client, windowDays + 1))
    if (forgotten === 'not_elected') return forgotten
    // By Postgres's clock, as calls are stored: a sink whose clock is days off would find none.
    const newestMs = (await readTimeAgo(pool, ageMs)).getTime()
    const olderMs = newestMs - (1 + (number % (windowDays - 1))) * dayMs
    const round = { number, storedBefore, signal }
    try {
      const counts = await runEach(
        [newestMs, olderMs].map((toMs) => () => sweepDay(toMs, round)),
        log,
      )
      const count = counts.reduce((sum, ofDay) => sum + ofDay, 0)
      if (count > 0) log.warn({ calls: count }, 'calls without scores queued again')
      return false
    } finally {
      // Also after a failure: the next round begins with other hours.
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
function createDaySweep({ pool, elect, publishJobs, clock, log, metrics }: SweepDependencies) {
  const swept = metrics.counter('sluice_sink_swept_total', 'Calls without scores by what the sweep did', [
    'what',
  ])

  const onRefused = (job: ScoreJob, error: Error) => {
    log.error({ err: error, request_id: job.request_id }, 'Kafka refuses the job of an unscored call')
    swept.inc({ what: 'refused' })
  }

  async function sweepPiece(
    slice: Pick<SweepSlice, 'projects' | 'from' | 'to' | 'storedBefore' | 'maxCalls'>,
  ) {
    const count = await elect(async (client) => {
      const jobs = await claimUnscored(client, { ...slice, maxBytes, maxTries, nowMs: clock.now() })
      if (jobs.length === 0) return 0
      // Before the tries are committed: every counted try was made.
      await publishEach(publishJobs, jobs, onRefused)
      const missing = jobs.filter(({ request_body }) => request_body === null).length
      swept.inc({ what: 'bodies_missing' }, missing)
      swept.inc({ what: 'queued_again' }, jobs.length - missing)
      return jobs.length
    })
    return count === 'not_elected' ? 0 : count
  }

  async function sweepHour(toMs: number, round: Round, limit: number): Promise<number> {
    const fromMs = toMs - hourMs
    const { projects, calls } = await findShortProjects(pool, { from: new Date(fromMs), to: new Date(toMs) })
    const pieces = projects.length === 0 ? 0 : Math.ceil(calls / callsAtOnce)
    const startOf = (piece: number) => new Date(fromMs + Math.floor((piece * hourMs) / pieces))
    let count = 0
    for (let index = 0; index < pieces && count < limit && round.signal?.aborted !== true; index++) {
      // Each round begins with another piece, so one with many such calls does not starve the others.
      const piece = (round.number + index) % pieces
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

  /**
   * An hour may take half of what is left, and rounds begin with different hours: none starves the others.
   */
  async function sweepDay(toMs: number, round: Round): Promise<number> {
    let count = 0
    for (let hour = 0; hour < 24 && count < maxCalls && round.signal?.aborted !== true; hour++) {
      const hoursBack = (round.number + hour) % 24
      count += await sweepHour(toMs - hoursBack * hourMs, round, Math.ceil((maxCalls - count) / 2))
    }
    return count
  }

  return sweepDay
}
