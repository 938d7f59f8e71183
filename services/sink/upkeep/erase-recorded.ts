import type { Pool, PoolClient } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { foldLock } from './fold-rollups.ts'
import { inElectedTransaction, inTurn } from './election.ts'
import { areAttacksHeld, cancelAttacks, eraseAttacks, eraseQuotes } from '../stores/erase-attacks.ts'
import {
  eraseCalls,
  findOpenErasure,
  markEmptied,
  markErased,
  openErasures,
  type OpenErasure,
} from '../stores/erase-calls.ts'
import {
  eraseCounts,
  eraseLastHours,
  eraseTraces,
  findFirstTrace,
  placeAt,
  traceTables,
  type Place,
} from '../stores/erase-traces.ts'

export interface ErasingDependencies {
  pool: Pool
  clock: Clock
  log: Log
  metrics: Metrics
}

const erasuresAtOnce = 100
const callsAtOnce = 1_000
/** Rows of a table that refers to calls, looked at in one transaction. */
const rowsAtOnce = 5_000
/** Any number, the same for every sink: whoever holds this advisory lock erases. */
const erasingLock = 7_355_614

/**
 * One round of erasing what people asked for: some calls of each erasure, and once none is left, all that is known of them. Every step is a transaction
 * that ends soon, and an erasure that fails keeps no other from going on. One is done when no call of its is left and every transaction has ended that
 * may have stored one without knowing better (docs/decisions/0007). Resolves to whether there is more to do.
 */
export function createErasing({
  pool,
  clock,
  log,
  metrics,
}: ErasingDependencies): (signal?: AbortSignal) => Promise<boolean> {
  const counter = metrics.counter(
    'sluice_sink_erased_calls_total',
    'Calls deleted because somebody asked for it',
  )
  /** Erasures that failed when they were last gone on with: they come after the others. */
  const failing = new Set<string>()

  const takeTurn: TakeTurn = (work) => inTurn(pool, erasingLock, work)

  async function finish(client: PoolClient, erasure: OpenErasure): Promise<void> {
    if (erasure.settled === null) return markEmptied(client, erasure)
    if (erasure.scope === 'project') await unfolded(eraseLastHours)(client, erasure)
    await markErased(client, erasure, new Date(clock.now()))
    log.info({ scope: erasure.scope }, 'an erasure is done')
  }

  /** Returns how many calls it deleted. */
  async function goOn(id: string, signal: AbortSignal | undefined): Promise<number> {
    const step = await inElectedTransaction(pool, erasingLock, async (client) => {
      const erasure = await findOpenErasure(client, id)
      if (erasure === undefined) return undefined
      await cancelAttacks(client, erasure)
      return { erasure, count: await eraseCalls(client, erasure, callsAtOnce) }
    })
    if (step === undefined) return 0
    const { erasure, count } = step
    counter.inc(count)
    if (count > 0 || erasure.settled === false) return count
    if (await eraseRest(takeTurn, erasure, signal)) await takeTurn((client) => finish(client, erasure))
    return 0
  }

  return async (signal) => {
    let erased = 0
    const open = await openErasures(pool, erasuresAtOnce)
    for (const id of open.toSorted((a, b) => Number(failing.has(a)) - Number(failing.has(b)))) {
      if (signal?.aborted === true) break
      try {
        erased += await goOn(id, signal)
        failing.delete(id)
      } catch (error) {
        failing.add(id)
        if (erased === 0) throw error
        log.warn({ err: error, erasure_id: id }, 'an erasure failed and will be tried again')
        break
      }
    }
    return erased > 0
  }
}

/** `erase`, while nobody folds roll-ups. */
function unfolded<Given extends unknown[], T>(erase: (client: PoolClient, ...given: Given) => Promise<T>) {
  return async (client: PoolClient, ...given: Given): Promise<T> => {
    await client.query('select pg_advisory_xact_lock($1)', [foldLock])
    return erase(client, ...given)
  }
}

type TakeTurn = <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>

/** Deletes what is known of erased calls besides themselves. Resolves to whether nothing is left. */
async function eraseRest(
  takeTurn: TakeTurn,
  erasure: OpenErasure,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const first = await takeTurn((client) => findFirstTrace(client, erasure))
  for (const table of traceTables) {
    let place: Place | undefined = first === undefined ? undefined : placeAt(table, first)
    do place = await takeTurn((client) => eraseTraces(client, table, erasure, place, rowsAtOnce))
    while (place !== undefined && signal?.aborted !== true)
  }
  const all = async (erase: (client: PoolClient, erasure: OpenErasure, limit: number) => Promise<number>) => {
    while ((await takeTurn((client) => erase(client, erasure, rowsAtOnce))) > 0);
  }
  await all(eraseQuotes)
  if (erasure.scope === 'project') {
    await all(unfolded(eraseCounts))
    if (await takeTurn((client) => areAttacksHeld(client, erasure))) return false
    await all(eraseAttacks)
  }
  return signal?.aborted !== true
}
