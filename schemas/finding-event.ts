import type { EventData, FindingState } from './event-data.ts'
import type { RaisedEvent } from './event-raised.ts'
import type { FindingEvent, FindingKey } from './finding.ts'
import { hashedId } from './ids.ts'
import { describeOwasp, type Severity } from './verdicts.ts'

/** A finding as an event tells it. */
export interface ToldFinding extends FindingKey {
  finding_id: string
  project_id: string
  revision: number
  state: FindingState
  severity: Severity
  owasp_category: string | null
  count: number
  first_seen: Date
  last_seen: Date
  /** The call that changed it, or its last one; null: all were erased. */
  request_id: string | null
}

export interface ToldChange {
  event: FindingEvent
  previousState: FindingState | null
  /** Null: a call. */
  changedBy: string | null
  atMs: number
  dashboardUrl: string
}

/** A `finding_…` event. Each revision of a finding has at most one. */
export function makeFindingEvent(finding: ToldFinding, change: ToldChange): RaisedEvent {
  const { finding_id: id, project_id: projectId } = finding
  const data: EventData<FindingEvent> = {
    finding_id: id,
    state: finding.state,
    previous_state: change.previousState,
    scorer_name: finding.scorer_name,
    severity: finding.severity,
    evidence_kind: orNull(finding.evidence_kind),
    agent_name: orNull(finding.agent_name),
    tool_name: orNull(finding.tool_name),
    owasp_category: finding.owasp_category,
    owasp_description: describeOwasp(finding.owasp_category),
    count: finding.count,
    first_seen: finding.first_seen.toISOString(),
    last_seen: finding.last_seen.toISOString(),
    request_id: finding.request_id,
    changed_by: change.changedBy,
    report_url: `${change.dashboardUrl.replace(/\/+$/, '')}/findings/${id}`,
  }
  return {
    id: hashedId('event', change.atMs, [change.event, projectId, id, String(finding.revision)]),
    event: change.event,
    project_id: projectId,
    created_at: change.atMs,
    data: Buffer.from(JSON.stringify(data)),
    content: null,
    content_id: null,
    webhook_id: null,
  }
}

function orNull(text: string): string | null {
  return text === '' ? null : text
}
