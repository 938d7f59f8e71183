import { findCostWatches, raiseCostAlert, sumCosts } from '../stores/cost-store.ts'
import type { JobContext } from './upkeep-job.ts'

/**
 * Tells projects that their stored calls have cost `cost_alert_usd`: once a period, even if several sinks
 * look at once. Costs are summed before the subscription is locked: everyone who logs for the project waits
 * for it.
 */
export function createCostAlerts({
  pool,
  clock,
  log,
  onEvents,
}: Pick<JobContext, 'pool' | 'clock' | 'log' | 'onEvents'>): () => Promise<boolean> {
  return async () => {
    const now = new Date(clock.now())
    for (const watch of await findCostWatches(pool, now)) {
      const currentUsd = await sumCosts(pool, watch)
      // The first cost passes a threshold of 0; the start of a period does not.
      const isPassed = currentUsd > 0 && currentUsd >= watch.thresholdUsd
      if (!isPassed || !(await raiseCostAlert(pool, watch, currentUsd, now))) continue
      log.info({ project: watch.projectUuid, currentUsd }, 'cost threshold passed')
      onEvents()
    }
    return false
  }
}
