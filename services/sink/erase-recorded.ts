import type { Pool, PoolClient } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { inTransaction } from '#runtime/postgres.ts'
import {
  eraseCalls,
  eraseTraces,
  markEmptied,
  markErased,
  openErasures,
  type OpenErasure,
} from './stores/erase-calls.ts'

export interface ErasingDependencies {
  pool: Pool
  clock: Clock
  log: Log
  metrics: Metrics
}

const erasuresAtOnce = 100
const callsAtOnce = 1_000
/** Any number, the same for every sink: whoever holds this advisory lock erases. */
const erasingLock = 7_355_613

/**
 * One round of erasing what people asked for: some calls of each erasure with all that is known of them. An erasure is done when no call of its is
 * left and every transaction has ended that may have stored one without knowing better (docs/decisions/0007). Resolves to whether there is more to do.
 */
export function createErasing({ pool, clock, log, metrics }: ErasingDependencies): () => Promise<boolean> {
  const counter = metrics.counter(
    'sluice_sink_erased_calls_total',
    'Calls deleted because somebody asked for it',
  )

  /** Returns how many calls it deleted. */
  async function goOn(client: PoolClient, erasure: OpenErasure): Promise<number> {
    const count = await eraseCalls(client, erasure, callsAtOnce)
    if (count > 0 || erasure.settled === null || erasure.settled) await eraseTraces(client, erasure)
    if (count > 0) return count
    if (erasure.settled === true) {
      await markErased(client, erasure, new Date(clock.now()))
      log.info({ scope: erasure.scope }, 'an erasure is done')
    } else if (erasure.settled === null) await markEmptied(client, erasure)
    return 0
  }

  return async () => {
    const count = await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ elected: boolean }>(
        'select pg_try_advisory_xact_lock($1) as elected',
        [erasingLock],
      )
      if (rows[0]?.elected !== true) return 0
      let erased = 0
      for (const erasure of await openErasures(client, erasuresAtOnce)) erased += await goOn(client, erasure)
      return erased
    })
    counter.inc(count)
    return count > 0
  }
}
