import type { Pool, PoolClient } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { inElectedTransaction } from './in-elected-transaction.ts'
import { dayOf } from './stores/day-partitions.ts'
import {
  allDayTables,
  contentTables,
  deleteExpiredContent,
  deleteLeftDeliveries,
  deleteOldLogs,
  deleteOldRollups,
  dropOldestDay,
} from './stores/retention-store.ts'

export interface RetentionDependencies {
  pool: Pool
  /** Days that calls and scores without their content are kept; undefined: for good. */
  metadataDays: number | undefined
  clock: Clock
  log: Log
  metrics: Metrics
}

const dayMs = 86_400_000
/** Bodies and details of every project; a project can only ask for less. */
const contentDays = 90
const rowsAtOnce = 5_000
/** Any number, the same for every sink: whoever holds this advisory lock erases. */
const retentionLock = 7_355_611

/**
 * One round of erasing what is kept no longer: a day of content 90 days after it ended, by dropping its tables; a day of calls and scores, and its
 * roll-ups, when METADATA_RETENTION_DAYS says so; rows of content of projects that keep theirs for fewer days; and deliveries whose webhook was
 * deleted. One day a round, in a transaction of its own that ends soon, because dropping a partition locks its parent. Resolves to whether there is
 * more to do.
 */
export function createRetention(dependencies: RetentionDependencies): () => Promise<boolean> {
  const { pool, metadataDays, clock, log, metrics } = dependencies
  const dropped = metrics.counter('sluice_sink_partitions_dropped_total', 'Partitions dropped at their age')
  const erased = metrics.counter('sluice_sink_content_erased_total', 'Rows of content erased at their age')

  /** The first day that is still kept when days are kept `days` after their end. */
  const firstKept = (days: number) => dayOf(clock.now() - days * dayMs)

  async function dropDay(client: PoolClient): Promise<string | undefined> {
    const content = await dropOldestDay(client, contentTables, firstKept(contentDays))
    if (content !== undefined || metadataDays === undefined) return content
    return dropOldestDay(client, allDayTables, firstKept(metadataDays))
  }

  async function deleteRows(client: PoolClient): Promise<{ rows: number; hasMore: boolean }> {
    const content = await deleteExpiredContent(client, new Date(clock.now()), rowsAtOnce)
    const left = await deleteLeftDeliveries(client, rowsAtOnce)
    const rows = content + left + (await deleteOldLogs(client, contentDays, rowsAtOnce))
    const hasMoreRollups =
      metadataDays !== undefined && (await deleteOldRollups(client, firstKept(metadataDays), rowsAtOnce))
    return { rows, hasMore: rows >= rowsAtOnce || hasMoreRollups }
  }

  return async () => {
    const deleted = await inElectedTransaction(pool, retentionLock, deleteRows)
    erased.inc(deleted?.rows ?? 0)
    // Apart: whoever reads a day for long keeps it from being dropped, which must not bring the rows back.
    const name = await inElectedTransaction(pool, retentionLock, dropDay)
    if (name === undefined) return deleted?.hasMore ?? false
    dropped.inc()
    log.info({ table: name }, 'a day was dropped at its age')
    return true
  }
}
