import type { EventData } from '#schemas/event-data.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { EventContent, Score, ScoredCall } from '#schemas/safety-score-recorded.ts'
import { threatEventId } from '#schemas/threat-event-id.ts'
import { describeOwasp } from '#schemas/verdicts.ts'
import type { PlacedScore } from './place-score.ts'
import { fractionOf, labelInEvents } from './to-event-form.ts'

type OfScore = 'score_label' | 'score_value' | 'severity'
/**
 * All fields but those in `content`. The types do not say that unsafe scores have a value and a severity, and
 * tool calls a tool's name.
 */
type OwnData = Omit<EventData<'threat_detected'>, keyof EventContent | OfScore | 'tool_name'> &
  Record<OfScore, unknown> & { tool_name?: string | null } & Partial<EventContent>

/** What the sink knows of a score besides its record. */
interface Marks {
  isSuppressed: boolean
  finding: PlacedScore['finding']
}

/**
 * `threat_detected` (specification 6.4) for an unsafe score as stored. Snippets and arguments stay sealed in
 * `content`; the notifier joins them to `data`. Made again, it has the same id.
 */
export function makeThreatEvent(
  call: ScoredCall,
  score: Score,
  dashboardUrl: string,
  { isSuppressed, finding }: Marks = { isSuppressed: false, finding: null },
): RaisedEvent {
  const data: OwnData = {
    request_id: call.request_id,
    agent_name: call.agent_name,
    agent_tag: call.agent_tag,
    model: call.model,
    scorer_name: score.scorer_name,
    score_label: labelInEvents(score.score_label),
    score_value: fractionOf(score),
    severity: score.severity,
    owasp_category: score.owasp_category,
    owasp_description: describeOwasp(score.owasp_category),
    latency_ms: call.latency_ms,
    run_id: call.run_id,
    report_url: reportUrl(dashboardUrl, call.request_id),
    suppressed: isSuppressed,
    finding_id: finding?.id ?? null,
    finding_state: finding?.state ?? null,
    first_in_finding: finding?.isFirst ?? null,
    ...(isToolCall(call) ? { tool_name: call.tool_name, session_id: call.session_id } : {}),
    ...(call.content === null ? emptyContent(call) : {}),
  }
  return {
    id: threatEventId({ ...call, score_id: score.id }),
    event: 'threat_detected',
    project_id: call.project_id,
    created_at: score.scored_at,
    data: Buffer.from(JSON.stringify(data)),
    content: call.content,
    content_id: call.content === null ? null : call.request_id,
    webhook_id: null,
  }
}

/** Where the dashboard shows a request. */
export function reportUrl(dashboardUrl: string, requestId: string): string {
  return `${dashboardUrl.replace(/\/+$/, '')}/requests/${requestId}`
}

function isToolCall(call: ScoredCall): boolean {
  return call.type === 'mcp_tool_call'
}

/** What stands for content that is not there, so that every event has every field. */
function emptyContent(call: ScoredCall): EventContent {
  return {
    prompt_snippet: '',
    completion_snippet: null,
    ...(isToolCall(call) ? { arguments: {} } : {}),
  }
}
