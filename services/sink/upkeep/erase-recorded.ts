import type { PoolClient } from 'pg'
import { holdLock, upkeepLocks, type Election } from './election.ts'
import { areAttacksHeld, cancelAttacks, eraseAttacks, eraseQuotes } from '../stores/erase-attacks.ts'
import type { JobContext } from './upkeep-job.ts'
import {
  eraseCalls,
  findOpenErasure,
  markEmptied,
  markErased,
  openErasures,
  type OpenErasure,
} from '../stores/erase-calls.ts'
import {
  eraseEvidence,
  eraseFindings,
  eraseNamesInCounters,
  eraseNamesInValues,
} from '../stores/erase-findings.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import {
  eraseCounts,
  eraseLastHours,
  eraseTraces,
  findFirstTrace,
  placeAt,
  traceTables,
  type Place,
} from '../stores/erase-traces.ts'

const erasuresAtOnce = 100
const callsAtOnce = 1_000
/** Rows of a table that refers to calls, looked at in one transaction. */
const rowsAtOnce = 5_000

/**
 * Erases what people asked for: some calls of each erasure, and all traces of them once no call is left.
 * Every step is a short transaction, and a failing erasure does not stop the others. An erasure is done when
 * its calls are gone and every transaction has ended that may have stored one unaware of it
 * (docs/decisions/0007). Resolves to whether there is more to do.
 */
export function createErasing({
  pool,
  clock,
  log,
  metrics,
  elect,
  inTurn,
}: Pick<JobContext, 'pool' | 'clock' | 'log' | 'metrics' | keyof Election>): (
  signal?: AbortSignal,
) => Promise<boolean> {
  const counter = metrics.counter(
    'sluice_sink_erased_calls_total',
    'Calls deleted because somebody asked for it',
  )
  const rollups = createRollupStore()
  /** Erasures whose last step failed: they come after the others. */
  const failing = new Set<string>()

  async function finish(client: PoolClient, erasure: OpenErasure): Promise<void> {
    if (erasure.settled === null) return markEmptied(client, erasure)
    if (erasure.scope === 'project') await unfolded(eraseLastHours)(client, rollups, erasure)
    await markErased(client, erasure, new Date(clock.now()))
    log.info({ scope: erasure.scope }, 'erasure done')
  }

  /** Returns how many calls it deleted. */
  async function advance(id: string, signal: AbortSignal | undefined): Promise<number> {
    const step = await elect(async (client) => {
      const erasure = await findOpenErasure(client, id)
      if (erasure === undefined) return undefined
      await cancelAttacks(client, erasure)
      return { erasure, count: await unfolded(eraseCalls)(client, rollups, erasure, callsAtOnce) }
    })
    if (step === undefined || step === 'not_elected') return 0
    const { erasure, count } = step
    counter.inc(count)
    if (count > 0 || erasure.settled === false) return count
    if (await eraseRest(inTurn, erasure, signal)) await inTurn((client) => finish(client, erasure))
    return 0
  }

  return async (signal) => {
    let erased = 0
    const open = await openErasures(pool, erasuresAtOnce)
    for (const id of open.toSorted((a, b) => Number(failing.has(a)) - Number(failing.has(b)))) {
      if (signal?.aborted === true) break
      try {
        erased += await advance(id, signal)
        failing.delete(id)
      } catch (error) {
        failing.add(id)
        if (erased === 0) throw error
        log.warn({ err: error, erasure_id: id }, 'erasure failed and will be retried')
        break
      }
    }
    return erased > 0
  }
}

/** `erase`, while no sink folds roll-ups. */
function unfolded<Given extends unknown[], T>(erase: (client: PoolClient, ...given: Given) => Promise<T>) {
  return async (client: PoolClient, ...given: Given): Promise<T> => {
    await holdLock(client, upkeepLocks.rollupFolding)
    return erase(client, ...given)
  }
}

/** Deletes the traces of erased calls. Resolves to whether none is left. */
async function eraseRest(
  inTurn: Election['inTurn'],
  erasure: OpenErasure,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const all = async (erase: (client: PoolClient, erasure: OpenErasure, limit: number) => Promise<number>) => {
    while ((await inTurn((client) => erase(client, erasure, rowsAtOnce))) > 0);
  }
  await all(eraseNamesInCounters)
  await all(eraseNamesInValues)
  const first = await inTurn((client) => findFirstTrace(client, erasure))
  for (const table of traceTables) {
    let place: Place | undefined = first === undefined ? undefined : placeAt(table, first)
    do place = await inTurn((client) => eraseTraces(client, table, erasure, place, rowsAtOnce))
    while (place !== undefined && signal?.aborted !== true)
  }
  await all(eraseQuotes)
  await all(eraseEvidence)
  if (erasure.scope === 'project') {
    await all(unfolded(eraseCounts))
    if (await inTurn((client) => areAttacksHeld(client, erasure))) return false
    await all(eraseAttacks)
    await all(eraseFindings)
  }
  return signal?.aborted !== true
}
