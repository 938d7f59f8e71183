import type { PoolClient } from 'pg'
import { contentDays } from '#schemas/content-retention.ts'
import type { RoundEnd } from './periodic-task.ts'
import { runEach } from './run-each.ts'
import type { JobContext } from './upkeep-job.ts'
import { readTimeAgo } from '../stores/claim-store.ts'
import { dayOf } from '../stores/day-partitions.ts'
import {
  allDayTables,
  contentTables,
  deleteContent,
  deleteLeftDeliveries,
  deleteOldFindingValues,
  deleteOldLogs,
  deleteOldReviews,
  deleteOldRollups,
  dropOldestDay,
  findShortRetentions,
  type Deleted,
  type ShortRetention,
} from '../stores/retention-store.ts'

export interface RetentionDependencies extends Pick<
  JobContext,
  'pool' | 'elect' | 'clock' | 'log' | 'metrics'
> {
  /** Days that calls, scores and reviews are kept without their content. Undefined: for ever. */
  metadataDays: number | undefined
}

const dayMs = 86_400_000
const rowsAtOnce = 5_000
/** 100,000 rows of each table for one project and round, before the next project's turn. */
const transactionsAtOnce = 20

/**
 * Erases what has reached its age:
 * - a day of content 90 days after it ended, by dropping its partitions: one day a round, it locks the parent
 * - a day of calls, scores, roll-ups and reviews, after METADATA_RETENTION_DAYS
 * - deliveries and dead letters after 90 days, and deliveries whose webhook was deleted
 * - rows of content of projects with a shorter retention, project by project
 *
 * Each is a short transaction, and a failure of one does not stop the others.
 */
export function createRetention(
  dependencies: RetentionDependencies,
): (signal?: AbortSignal, number?: number) => Promise<RoundEnd> {
  const { pool, elect, metadataDays, clock, log, metrics } = dependencies
  const dropped = metrics.counter('sluice_sink_partitions_dropped_total', 'Partitions dropped at their age')
  const erased = metrics.counter('sluice_sink_content_erased_total', 'Rows of content erased at their age')

  // Time of the round: the earlier of the sink's and Postgres's clock. A clock that is ahead would erase
  // content early and for good.
  let nowMs: number
  const before = (days: number) => new Date(nowMs - days * dayMs)
  /** The first day that is still kept when days are kept `days` after their end. */
  const firstKept = (days: number) => dayOf(before(days).getTime())

  async function dropDay(): Promise<RoundEnd> {
    const name = await elect(async (client) => {
      const content = await dropOldestDay(client, contentTables, firstKept(contentDays))
      if (content !== null || metadataDays === undefined) return content
      return dropOldestDay(client, allDayTables, firstKept(metadataDays))
    })
    if (name === 'not_elected') return name
    if (name === null) return false
    dropped.inc()
    log.info({ table: name }, 'partitions of a day dropped at their age')
    return true
  }

  async function deleteRows(work: (client: PoolClient) => Promise<Deleted>): Promise<RoundEnd> {
    const deleted = await elect(work)
    if (deleted === 'not_elected') return deleted
    erased.inc(deleted.rows)
    return deleted.hasMore
  }

  const deleteOfProject = ({ projectUuid, days }: ShortRetention, signal: AbortSignal | undefined) =>
    severalTimes(
      () => deleteRows((client) => deleteContent(client, projectUuid, before(days), rowsAtOnce)),
      signal,
    )

  const deleteRollups = (days: number): Promise<RoundEnd> =>
    elect((client) => deleteOldRollups(client, firstKept(days), rowsAtOnce))

  const deleteReviews = (days: number) =>
    deleteRows((client) => deleteOldReviews(client, firstKept(days), rowsAtOnce))

  let rounds = 0
  return async (signal, number = rounds++) => {
    nowMs = Math.min(clock.now(), (await readTimeAgo(pool, 0)).getTime())
    const projects = beginningAt(await findShortRetentions(pool), number)
    const steps = [
      dropDay,
      () => deleteRows((client) => deleteOldLogs(client, before(contentDays), rowsAtOnce)),
      () => deleteRows((client) => deleteOldFindingValues(client, before(contentDays), rowsAtOnce)),
      () => deleteRows((client) => deleteLeftDeliveries(client, rowsAtOnce)),
      ...(metadataDays === undefined
        ? []
        : [() => deleteRollups(metadataDays), () => deleteReviews(metadataDays)]),
      ...projects.map((project) => () => deleteOfProject(project, signal)),
    ]
    const ends = await runEach(steps, log)
    // Two sinks at work at the same time are each elected for some of the steps.
    return ends.includes(true) || (ends.every((end) => end === 'not_elected') && 'not_elected')
  }
}

/** Each round begins with another project: if failures end it early, the others come first in the next. */
function beginningAt(projects: readonly ShortRetention[], round: number): readonly ShortRetention[] {
  const first = projects.length === 0 ? 0 : round % projects.length
  return [...projects.slice(first), ...projects.slice(0, first)]
}

/** Repeats `work` while there is more, up to one project's share of a round. */
async function severalTimes(
  work: () => Promise<RoundEnd>,
  signal: AbortSignal | undefined,
): Promise<RoundEnd> {
  let end: RoundEnd = true
  for (let count = 0; count < transactionsAtOnce && end === true; count++) {
    if (signal?.aborted === true) return false
    end = await work()
  }
  return end
}
