import type { RoundEnd } from './periodic-task.ts'
import type { JobContext } from './upkeep-job.ts'
import { readTimeAgo } from '../stores/claim-store.ts'
import { dayOf } from '../stores/day-partitions.ts'
import { deleteOldEphemeral } from '../stores/ephemeral-store.ts'
import { forgetErased } from '../stores/erase-calls.ts'
import { deleteOldFindings, measureFindings } from '../stores/finding-upkeep.ts'
import { measureErasures, measurePartitionsEnd } from '../stores/measure-upkeep.ts'
import { deleteOldMinutes } from '../stores/alert-minutes.ts'
import { deletePublished, measureOutbox } from '../stores/outbox-store.ts'
import { deleteEndedSuppressions } from '../stores/suppression-store.ts'

export interface MaintenanceDependencies extends Pick<
  JobContext,
  'pool' | 'elect' | 'partitions' | 'metrics'
> {
  /** Days from today on that always have partitions. */
  daysAhead: number
}

const dayMs = 86_400_000
/** A day longer than the topic keeps an event, so operators can compare both. */
const publishedDays = 8
/** How long an erasure can be proved after the last topic has deleted its records. */
const erasureDays = 90

/**
 * Makes partitions for the days ahead, deletes outbox rows long published, suppressions long ended, findings
 * long past and counts of old minutes, and measures what alerts watch.
 * Every sink makes partitions, by Postgres's clock: a sink whose clock is ahead would make none for today.
 * Only the elected sink deletes. Resolves to whether there is more to do.
 */
export function createMaintenance(dependencies: MaintenanceDependencies): () => Promise<RoundEnd> {
  const { pool, elect, partitions, daysAhead } = dependencies
  const measure = createMeasuring(dependencies)

  return async () => {
    const nowMs = (await readTimeAgo(pool, 0)).getTime()
    // Yesterday too: most late calls are of yesterday.
    for (let day = -1; day <= daysAhead; day++) await partitions.make(dayOf(nowMs + day * dayMs))
    const deleted = await elect(
      async (client) =>
        (await deletePublished(client, publishedDays)) +
        (await deleteOldEphemeral(client)) +
        (await forgetErased(client, erasureDays)) +
        (await deleteEndedSuppressions(client)) +
        (await deleteOldFindings(client)) +
        (await deleteOldMinutes(client)),
    )
    await measure()
    return deleted === 'not_elected' ? deleted : deleted > 0
  }
}

/** Every sink reports the same figures of the database; alerts take the largest or the smallest. */
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
  const findings = metrics.gauge('sluice_findings_open', 'Findings that are open or acknowledged', [
    'severity',
  ])
  const overdue = metrics.gauge(
    'sluice_findings_overdue',
    'Findings that are open or acknowledged for longer than their severity allows',
    ['severity'],
  )
  return async () => {
    for (const { severity, open, late } of await measureFindings(pool)) {
      findings.set({ severity }, open)
      overdue.set({ severity }, late)
    }
    const outbox = await measureOutbox(pool)
    waiting.set(outbox.waiting)
    age.set(outbox.oldestSeconds)
    partitionsEnd.set(await measurePartitionsEnd(pool))
    const open = await measureErasures(pool)
    erasures.set(open.count)
    erasureAge.set(open.oldestSeconds)
  }
}
