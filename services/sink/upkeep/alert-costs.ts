import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { findCostWatches, raiseCostAlert, sumCosts } from '../stores/cost-store.ts'

/**
 * One round of telling projects that their stored calls have cost `cost_alert_usd` in this period: once a period, also when several sinks look at
 * once. Costs are summed before the subscription is locked, because everybody who logs for the project waits for that row.
 */
export function createCostAlerts({
  pool,
  clock,
  log,
  onEvents,
}: {
  pool: Pool
  clock: Clock
  log: Log
  onEvents: () => void
}): () => Promise<boolean> {
  return async () => {
    const now = new Date(clock.now())
    for (const watch of await findCostWatches(pool, now)) {
      const currentUsd = await sumCosts(pool, watch)
      // A threshold of 0 is passed by the first cost, not by a period that begins.
      const isPassed = currentUsd > 0 && currentUsd >= watch.thresholdUsd
      if (!isPassed || !(await raiseCostAlert(pool, watch, currentUsd, now))) continue
      log.info({ project: watch.projectUuid, currentUsd }, 'a cost threshold was passed')
      onEvents()
    }
    return false
  }
}
