import type { Pool } from 'pg'
import type { Metrics } from '#runtime/metrics.ts'
import { inElectedTransaction } from './election.ts'
import type { RoundEnd } from './periodic-task.ts'
import { readTimeAgo } from '../stores/claim-store.ts'
import { dayOf, type DayPartitions } from '../stores/day-partitions.ts'
import { deleteOldEphemeral } from '../stores/ephemeral-store.ts'
import { forgetErased } from '../stores/erase-calls.ts'
import { measureErasures, measurePartitionsEnd } from '../stores/measure-upkeep.ts'
import { deletePublished, measureOutbox } from '../stores/outbox-store.ts'

export interface MaintenanceDependencies {
  pool: Pool
  partitions: DayPartitions
  /** Days from today on that always have partitions. */
  daysAhead: number
  metrics: Metrics
}

const dayMs = 86_400_000
/** Any number, the same for every sink: whoever holds this advisory lock does the round. */
const maintenanceLock = 7_355_609
/** Longer than a topic keeps an event, so that operators can still compare. */
const publishedDays = 8
/** How long it can be shown that something was erased, after the last topic has forgotten it. */
const erasureDays = 90

/**
 * One round of what has to be done now and then: partitions for the days ahead, outbox rows long published, and what operators watch. The
 * first is done by every sink, because making what is there costs nothing, and by Postgres's clock: sinks that are years ahead would make none for
 * today. Deleting is done by one at a time, elected by an advisory lock that goes with its transaction. Resolves to whether there is more to do.
 */
export function createMaintenance(dependencies: MaintenanceDependencies): () => Promise<RoundEnd> {
  const { pool, partitions, daysAhead } = dependencies
  const measure = createMeasuring(dependencies)

  return async () => {
    const nowMs = (await readTimeAgo(pool, 0)).getTime()
    // Yesterday too: its late calls are the most usual ones.
    for (let day = -1; day <= daysAhead; day++) await partitions.make(dayOf(nowMs + day * dayMs))
    const deleted = await inElectedTransaction(
      pool,
      maintenanceLock,
      async (client) =>
        (await deletePublished(client, publishedDays)) +
        (await deleteOldEphemeral(client)) +
        (await forgetErased(client, erasureDays)),
    )
    await measure()
    return deleted === undefined ? 'not_elected' : deleted > 0
  }
}

/** What every sink says alike, because it is the database's: alerts take the largest, or the smallest. */
function createMeasuring({ pool, metrics }: MaintenanceDependencies): () => Promise<void> {
  const gauge = (name: string, help: string) => metrics.gauge(`sluice_${name}`, help)
  const waiting = gauge('outbox_waiting_events', 'Events not yet published, counted up to 10,000')
  const age = gauge('outbox_oldest_age_seconds', 'Age of the oldest event not yet published')
  const partitionsEnd = gauge(
    'partitions_end_timestamp_seconds',
    'Until when every table by day has its partitions, without a gap',
  )
  const erasures = gauge('erasures_open', 'Erasures that are not done')
  const erasureAge = gauge('erasures_oldest_age_seconds', 'Age of the oldest erasure that is not done')
  return async () => {
    const outbox = await measureOutbox(pool)
    waiting.set(outbox.waiting)
    age.set(outbox.oldestSeconds)
    partitionsEnd.set(await measurePartitionsEnd(pool))
    const open = await measureErasures(pool)
    erasures.set(open.count)
    erasureAge.set(open.oldestSeconds)
  }
}
