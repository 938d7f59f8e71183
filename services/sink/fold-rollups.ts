import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { foldLanes } from './stores/rollup-fold.ts'
import { rollupTables } from './stores/rollup-tables.ts'

/** Calls and their scores of an hour have come by then, but for stragglers. */
const foldedAfterMs = 2 * 3_600_000
const groupsAtOnce = 50
/** Any number, the same for every sink: whoever holds this advisory lock folds. */
const foldLock = 7_355_612

/** One round of folding the roll-ups of past hours into one row a series, by one sink at a time. Resolves to whether there is more to do. */
export function createRollupFolding({ pool, clock }: { pool: Pool; clock: Clock }): () => Promise<boolean> {
  return async () =>
    inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ elected: boolean }>(
        'select pg_try_advisory_xact_lock($1) as elected',
        [foldLock],
      )
      if (rows[0]?.elected !== true) return false
      const before = new Date(clock.now() - foldedAfterMs)
      let folded = 0
      for (const table of rollupTables) folded += await foldLanes(client, table, before, groupsAtOnce)
      return folded > 0
    })
}
