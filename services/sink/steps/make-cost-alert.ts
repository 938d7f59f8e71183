import type { EventData } from '#schemas/event-data.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { hashedId } from '#schemas/ids.ts'
import type { Tier } from '#schemas/tiers.ts'

export interface PassedThreshold {
  projectId: string
  tier: Tier
  limit: number | null
  count: number
  periodStart: Date
  periodEnd: Date
  thresholdUsd: number
  currentUsd: number
  now: Date
}

/**
 * The `usage_alert` of a project whose calls have passed a cost threshold. Repeated for the same threshold
 * and period, it has the same id.
 */
export function makeCostAlert(passed: PassedThreshold): RaisedEvent {
  const periodStart = passed.periodStart.toISOString()
  const data: EventData<'usage_alert'> = {
    alert_type: 'cost_threshold',
    tier: passed.tier,
    limit: passed.limit,
    current_count: passed.count,
    period_start: periodStart,
    period_end: passed.periodEnd.toISOString(),
    threshold_usd: passed.thresholdUsd,
    // A sum of thousandths of cents has more digits than anybody pays.
    current_usd: Number(passed.currentUsd.toFixed(6)),
  }
  return {
    id: hashedId('event', passed.periodStart.getTime(), [
      passed.projectId,
      'usage_alert',
      'cost_threshold',
      periodStart,
      String(passed.thresholdUsd),
    ]),
    event: 'usage_alert',
    project_id: passed.projectId,
    created_at: passed.now.getTime(),
    data: Buffer.from(JSON.stringify(data)),
    content: null,
    content_id: null,
    webhook_id: null,
  }
}
