import type { ClientBase, Pool } from 'pg'
import { inElectedTransaction } from './election.ts'
import type { RoundEnd } from './periodic-task.ts'
import { readTimeAgo } from '../stores/claim-store.ts'
import { countNextDay, recountDays } from '../stores/rollup-days.ts'
import { foldLanes } from '../stores/rollup-fold.ts'
import { rollupTables, type RollupTable } from '../stores/rollup-tables.ts'

/** Calls and their scores of an hour have come by then, but for stragglers. */
const foldedAfterMs = 2 * 3_600_000
const groupsAtOnce = 50
/** Any number, the same for every sink: whoever holds this advisory lock folds. */
export const foldLock = 7_355_612

/**
 * One round of folding the roll-ups of past hours into one row a series, and of counting past days from them, by one sink at a time. Resolves to
 * whether there is more to do. By Postgres's clock: a sink whose own is ahead would fold the hours that are being counted, again with each round,
 * and count days that have not been.
 */
export function createRollupFolding({
  pool,
  timeAgo = (ageMs) => readTimeAgo(pool, ageMs),
}: {
  pool: Pool
  timeAgo?: (ageMs: number) => Promise<Date>
}): () => Promise<RoundEnd> {
  return async () => {
    const before = await timeAgo(foldedAfterMs)
    const isMore = await inElectedTransaction(pool, foldLock, async (client) => {
      let isMore = false
      for (const table of rollupTables) isMore = (await foldTable(client, table, before)) || isMore
      return isMore
    })
    return isMore ?? 'not_elected'
  }
}

async function foldTable(client: ClientBase, table: RollupTable, before: Date): Promise<boolean> {
  const folded = await foldLanes(client, table, before, groupsAtOnce)
  if (folded.length === 0) return countNextDay(client, table, before)
  await recountDays(client, table, folded)
  return true
}
