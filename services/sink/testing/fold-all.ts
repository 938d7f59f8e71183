import type { Pool } from 'pg'
import { createElection, upkeepLocks } from '../upkeep/election.ts'
import { createRollupFolding } from '../upkeep/fold-rollups.ts'

/** Folds roll-ups until nothing is left, as a sink would some hours from now. */
export async function foldAll(pool: Pool, hoursLater: number): Promise<void> {
  const fold = createRollupFolding({
    pool,
    ...createElection(pool, upkeepLocks.rollupFolding),
    timeAgo: (ageMs) => Promise.resolve(new Date(Date.now() + hoursLater * 3_600_000 - ageMs)),
  })
  while (await fold());
}
