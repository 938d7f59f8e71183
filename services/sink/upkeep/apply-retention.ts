import type { Pool, PoolClient } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { contentDays } from '#schemas/content-retention.ts'
import { inElectedTransaction } from './election.ts'
import type { RoundEnd } from './periodic-task.ts'
import { runEach } from './run-each.ts'
import { readTimeAgo } from '../stores/claim-store.ts'
import { dayOf } from '../stores/day-partitions.ts'
import {
  allDayTables,
  contentTables,
  deleteContent,
  deleteLeftDeliveries,
  deleteOldLogs,
  deleteOldReviews,
  deleteOldRollups,
  dropOldestDay,
  findShortRetentions,
  type Deleted,
  type ShortRetention,
} from '../stores/retention-store.ts'

export interface RetentionDependencies {
  pool: Pool
  /** Days that calls, and scores and what people said of them, are kept without their content; undefined: for good. */
  metadataDays: number | undefined
  clock: Clock
  log: Log
  metrics: Metrics
}

const dayMs = 86_400_000
const rowsAtOnce = 5_000
/** Of one project a round: 100,000 rows of each table, before the others have their turn. */
const transactionsAtOnce = 20
/** Any number, the same for every sink: whoever holds this advisory lock erases. */
const retentionLock = 7_355_611

/**
 * One round of erasing what is kept no longer: a day of content 90 days after it ended, by dropping its tables; a day of calls and scores, its
 * roll-ups and what people said of its scores, when METADATA_RETENTION_DAYS says so; deliveries and dead letters after 90 days; deliveries whose webhook was deleted; and rows of content of
 * projects that keep theirs for fewer days, project by project. One day a round, because dropping a partition locks its parent. Each is a transaction of
 * its own that ends soon, and what fails keeps nothing else from going. What goes is old by the sink's clock and by Postgres's.
 */
export function createRetention(
  dependencies: RetentionDependencies,
): (signal?: AbortSignal, number?: number) => Promise<RoundEnd> {
  const { pool, metadataDays, clock, log, metrics } = dependencies
  const dropped = metrics.counter('sluice_sink_partitions_dropped_total', 'Partitions dropped at their age')
  const erased = metrics.counter('sluice_sink_content_erased_total', 'Rows of content erased at their age')

  // Of the round. The earlier of both clocks: by that of a host alone that began in 2038 all content went within a minute, and comes back from nowhere.
  let nowMs: number
  const before = (days: number) => new Date(nowMs - days * dayMs)
  /** The first day that is still kept when days are kept `days` after their end. */
  const firstKept = (days: number) => dayOf(before(days).getTime())
  const elected = <T>(work: (client: PoolClient) => Promise<T>) =>
    inElectedTransaction(pool, retentionLock, work)

  async function dropDay(): Promise<RoundEnd> {
    const name = await elected(async (client) => {
      const content = await dropOldestDay(client, contentTables, firstKept(contentDays))
      if (content !== null || metadataDays === undefined) return content
      return dropOldestDay(client, allDayTables, firstKept(metadataDays))
    })
    if (name === undefined) return 'not_elected'
    if (name === null) return false
    dropped.inc()
    log.info({ table: name }, 'a day was dropped at its age')
    return true
  }

  async function deleteRows(work: (client: PoolClient) => Promise<Deleted>): Promise<RoundEnd> {
    const deleted = await elected(work)
    if (deleted === undefined) return 'not_elected'
    erased.inc(deleted.rows)
    return deleted.hasMore
  }

  const deleteOfProject = ({ projectUuid, days }: ShortRetention, signal: AbortSignal | undefined) =>
    severalTimes(
      () => deleteRows((client) => deleteContent(client, projectUuid, before(days), rowsAtOnce)),
      signal,
    )

  const deleteRollups = async (days: number): Promise<RoundEnd> =>
    (await elected((client) => deleteOldRollups(client, firstKept(days), rowsAtOnce))) ?? 'not_elected'

  const deleteReviews = (days: number) =>
    deleteRows((client) => deleteOldReviews(client, firstKept(days), rowsAtOnce))

  let rounds = 0
  return async (signal, number = rounds++) => {
    nowMs = Math.min(clock.now(), (await readTimeAgo(pool, 0)).getTime())
    const projects = beginningAt(await findShortRetentions(pool), number)
    const steps = [
      dropDay,
      () => deleteRows((client) => deleteOldLogs(client, before(contentDays), rowsAtOnce)),
      () => deleteRows((client) => deleteLeftDeliveries(client, rowsAtOnce)),
      ...(metadataDays === undefined
        ? []
        : [() => deleteRollups(metadataDays), () => deleteReviews(metadataDays)]),
      ...projects.map((project) => () => deleteOfProject(project, signal)),
    ]
    const ends = await runEach(steps, log)
    // Two sinks at it at once have some steps each.
    return ends.includes(true) || (ends.every((end) => end === 'not_elected') && 'not_elected')
  }
}

/** Each round begins with another: where a few that fail break it off, the rest have their turn in the next. */
function beginningAt(projects: readonly ShortRetention[], round: number): readonly ShortRetention[] {
  const first = projects.length === 0 ? 0 : round % projects.length
  return [...projects.slice(first), ...projects.slice(0, first)]
}

/** As long as there is more, up to what one project may have deleted in a round. */
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
