import type { EventData } from '#schemas/event-data.ts'
import type { selectableEvents } from '#schemas/event-raised.ts'
import { liveRunId, newId } from '#schemas/ids.ts'

interface TestEventOptions {
  projectId: string
  dashboardUrl: string
  nowMs: number
}

type SelectableEvent = (typeof selectableEvents)[number]

/** The `data` of a test event: the fields of a real one for an invented call, and `test: true`. */
export function testEventData(event: SelectableEvent, options: TestEventOptions): object {
  return { ...examples[event](options), test: true }
}

const examples = {
  threat_detected({ projectId, dashboardUrl, nowMs }: TestEventOptions) {
    const requestId = newId('request', nowMs)
    return {
      request_id: requestId,
      agent_name: 'example-agent',
      agent_tag: null,
      model: 'gpt-4o-mini',
      scorer_name: 'jailbreak_detection',
      score_label: 'fail',
      score_value: 1,
      severity: 'critical',
      owasp_category: 'LLM01',
      owasp_description: 'Prompt Injection',
      prompt_snippet: 'This is a test event.',
      completion_snippet: null,
      latency_ms: 420,
      run_id: liveRunId(projectId),
      report_url: `${dashboardUrl}/requests/${requestId}`,
      suppressed: false,
      finding_id: newId('finding', nowMs),
      finding_state: 'open' as const,
      first_in_finding: true,
    }
  },
  usage_alert({ nowMs }: TestEventOptions) {
    const now = new Date(nowMs)
    const month = (offset: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString()
    return {
      alert_type: 'quota_exceeded',
      tier: 'free',
      limit: 10_000,
      current_count: 10_000,
      period_start: month(0),
      period_end: month(1),
    }
  },
  redteam_complete({ dashboardUrl, nowMs }: TestEventOptions) {
    const runId = newId('run', nowMs)
    return {
      run_id: runId,
      agent_name: 'example-agent',
      total_probes: 100,
      pass_count: 97,
      fail_count: 3,
      critical_count: 1,
      duration_seconds: 60,
      report_url: `${dashboardUrl}/runs/${runId}`,
    }
  },
  finding_opened: exampleFinding,
  finding_reopened: (options: TestEventOptions) => ({
    ...exampleFinding(options),
    previous_state: 'resolved' as const,
  }),
  finding_acknowledged: (options: TestEventOptions) => ({
    ...exampleFinding(options),
    state: 'acknowledged' as const,
    previous_state: 'open' as const,
    changed_by: 'analyst@example.com',
  }),
  finding_resolved: (options: TestEventOptions) => ({
    ...exampleFinding(options),
    state: 'resolved' as const,
    previous_state: 'open' as const,
    changed_by: 'analyst@example.com',
  }),
  alert_fired: exampleAlert,
  alert_recovered: (options: TestEventOptions) => ({ ...exampleAlert(options), value: 0.02 }),
} satisfies { [E in SelectableEvent]: (options: TestEventOptions) => EventData<E> }

function exampleFinding({ dashboardUrl, nowMs }: TestEventOptions): EventData<'finding_opened'> {
  const findingId = newId('finding', nowMs)
  const at = new Date(nowMs).toISOString()
  return {
    finding_id: findingId,
    state: 'open',
    previous_state: null,
    scorer_name: 'jailbreak_detection',
    severity: 'critical',
    evidence_kind: 'override',
    agent_name: 'example-agent',
    tool_name: null,
    owasp_category: 'LLM01',
    owasp_description: 'Prompt Injection',
    count: 1,
    first_seen: at,
    last_seen: at,
    request_id: newId('request', nowMs),
    changed_by: null,
    report_url: `${dashboardUrl}/findings/${findingId}`,
  }
}

function exampleAlert({ dashboardUrl, nowMs }: TestEventOptions): EventData<'alert_fired'> {
  const ruleId = newId('alertRule', nowMs)
  return {
    rule_id: ruleId,
    rule_name: 'Example rule',
    metric: 'unsafe_share',
    level: 'alert',
    value: 0.25,
    threshold: 0.1,
    window_minutes: 15,
    compared_with: null,
    filter: { agent_name: 'example-agent' },
    since: new Date(nowMs).toISOString(),
    report_url: `${dashboardUrl}/alert-rules`,
  }
}
