import type { ClientBase } from 'pg'
import { readTimeAgo } from '../stores/claim-store.ts'
import { countNextDay, recountDays } from '../stores/rollup-days.ts'
import { foldLanes } from '../stores/rollup-fold.ts'
import { rollupTables, type RollupTable } from '../stores/rollup-tables.ts'
import type { RoundEnd } from './periodic-task.ts'
import type { JobContext } from './upkeep-job.ts'

/** By then, all calls and scores of an hour have come but for stragglers. */
const foldedAfterMs = 2 * 3_600_000
const groupsAtOnce = 50

/**
 * Folds the roll-ups of past hours into one row a series, and counts past days from them. By Postgres's
 * clock: a sink whose clock is ahead would fold hours that are still being counted, and count days too early.
 */
export function createRollupFolding({
  pool,
  elect,
  timeAgo = (ageMs) => readTimeAgo(pool, ageMs),
}: Pick<JobContext, 'pool' | 'elect'> & {
  timeAgo?: (ageMs: number) => Promise<Date>
}): () => Promise<RoundEnd> {
  return async () => {
    const before = await timeAgo(foldedAfterMs)
    return elect(async (client) => {
      let isMore = false
      for (const table of rollupTables) isMore = (await foldTable(client, table, before)) || isMore
      return isMore
    })
  }
}

async function foldTable(client: ClientBase, table: RollupTable, before: Date): Promise<boolean> {
  const folded = await foldLanes(client, table, before, groupsAtOnce)
  if (folded.length === 0) return countNextDay(client, table, before)
  await recountDays(client, table, folded)
  return true
}
