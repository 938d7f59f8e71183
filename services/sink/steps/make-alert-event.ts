import type { EventData } from '#schemas/event-data.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { hashedId, idFromUuid } from '#schemas/ids.ts'
import type { AlertRaised } from '#schemas/alert-state.ts'
import type { DueRule, EvaluatedRule } from '../stores/alert-store.ts'

/**
 * The event of a rule that fired or recovered. Its id comes of the rule and the number of its change: a
 * second evaluation of the same change raises nothing more.
 */
export function makeAlertEvent(
  { due, state, value, compared }: EvaluatedRule,
  { event, level, since_ms: sinceMs }: AlertRaised,
  nowMs: number,
  dashboardUrl: string,
): RaisedEvent {
  const ruleId = idFromUuid('alertRule', due.ruleUuid)
  const projectId = idFromUuid('project', due.projectUuid)
  const { metric, filter, window_minutes } = due.rule
  const data: EventData<'alert_fired'> = {
    ...{ rule_id: ruleId, rule_name: due.name, metric, level, value, window_minutes, filter },
    threshold: thresholdOf(due, level),
    compared_with: compared,
    since: new Date(sinceMs).toISOString(),
    report_url: `${dashboardUrl}/alert-rules`,
  }
  return {
    id: hashedId('event', due.createdAtMs, [projectId, ruleId, event, String(state.changes)]),
    event,
    project_id: projectId,
    created_at: nowMs,
    data: Buffer.from(JSON.stringify(data)),
    content: null,
    content_id: null,
    webhook_id: null,
  }
}

function thresholdOf({ rule }: DueRule, level: AlertRaised['level']): number {
  return level === 'warning' ? (rule.warning_threshold ?? rule.alert_threshold) : rule.alert_threshold
}
