import type { PoolClient } from 'pg'
import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { countReadings } from '../steps/count-scores.ts'
import {
  findUnderived,
  giveUpReadings,
  rederiveVerdicts,
  type UnderivedCall,
} from '../stores/derive-store.ts'
import { lockCalls } from '../stores/lock-calls.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { changesLane, verdictRollups } from '../stores/rollup-tables.ts'
import type { RoundEnd } from './periodic-task.ts'
import type { JobContext } from './upkeep-job.ts'

/** About 5,000 scores, read and counted in one short transaction. */
const callsAtOnce = 500

/**
 * Derives what scores of older calls say together (docs/decisions/0027), newest first: of verdicts stored
 * before readings were, or changed since by a sink of such a version. A call is counted when it is derived.
 */
export function createVerdictDerivation({
  elect,
  metrics,
}: Pick<JobContext, 'elect' | 'metrics'>): () => Promise<RoundEnd> {
  const derived = metrics.counter(
    'sluice_sink_verdicts_derived_total',
    'Verdicts of older calls derived from their scores',
  )
  const rollups = createRollupStore()

  async function deriveOf(client: PoolClient, projectUuid: string, found: readonly UnderivedCall[]) {
    const liveRunUuid = idToUuid(liveRunId(idFromUuid('project', projectUuid)))
    const calls = await lockCalls(client, projectUuid, found)
    if (calls.length === 0) return
    const changes = await rederiveVerdicts(client, { projectUuid, liveRunUuid }, calls)
    await rollups.add(client, verdictRollups, changesLane, countReadings(changes))
  }

  return () =>
    elect(async (client) => {
      const found = await findUnderived(client, callsAtOnce)
      // In the order in which scores are stored, to avoid deadlocks.
      for (const [project, calls] of Map.groupBy(found, ({ project_id: project }) => project))
        await deriveOf(client, project, calls)
      if (found.length > 0) await giveUpReadings(client, found)
      derived.inc(found.length)
      return found.length === callsAtOnce
    })
}
