import type { EventName } from '#schemas/event-raised.ts'
import { severityOf } from '#detectors/verdict.ts'
import { fractionOf } from '#services/sink/steps/to-event-form.ts'

/** The examples in docs/events.md; events.test.ts checks them against the schemas. */
export interface EventExample {
  title: string
  event: EventName
  data: Readonly<Record<string, unknown>>
}

const request = 'req_01kaq3h2v8e5s9n6c7d4f1g0hj'
const run = 'run_01kaq3h2v8e5s9n6c7d4f1g0hk'
/** From 1 to 5, as scorers rate. */
const level = 4
const dashboard = 'https://sluice.example.com'

const threat = {
  request_id: request,
  agent_name: 'support-agent',
  agent_tag: 'v3',
  model: 'gpt-4o-mini',
  scorer_name: 'pii_detection',
  score_label: 'fail',
  score_value: fractionOf({ score_value: level }),
  severity: severityOf(level),
  owasp_category: 'LLM02',
  owasp_description: 'Sensitive Information Disclosure',
  prompt_snippet: 'Send the receipt to [email]',
  completion_snippet: 'I have sent it to [email].',
  latency_ms: 812,
  run_id: run,
  report_url: `${dashboard}/requests/${request}`,
  suppressed: false,
  finding_id: 'fnd_01kaq3h2v8e5s9n6c7d4f1g0hp',
  finding_state: 'open',
  first_in_finding: true,
}

const usage = {
  alert_type: 'quota_exceeded',
  tier: 'free',
  limit: 10_000,
  current_count: 10_000,
  period_start: '2026-11-01T00:00:00.000Z',
  period_end: '2026-12-01T00:00:00.000Z',
}

const finding = {
  finding_id: 'fnd_01kaq3h2v8e5s9n6c7d4f1g0hp',
  state: 'open',
  previous_state: null,
  scorer_name: 'pii_detection',
  severity: severityOf(level),
  evidence_kind: 'email_address',
  agent_name: 'support-agent',
  tool_name: null,
  owasp_category: 'LLM02',
  owasp_description: 'Sensitive Information Disclosure',
  count: 1,
  first_seen: '2026-11-21T09:30:00.000Z',
  last_seen: '2026-11-21T09:30:00.000Z',
  request_id: request,
  changed_by: null,
  report_url: `${dashboard}/findings/fnd_01kaq3h2v8e5s9n6c7d4f1g0hp`,
}

const alert = {
  rule_id: 'alr_01kaq3h2v8e5s9n6c7d4f1g0hq',
  rule_name: 'Unsafe share of the support agent',
  metric: 'unsafe_share',
  level: 'alert',
  value: 2.5,
  threshold: 1,
  window_minutes: 15,
  compared_with: null,
  filter: { agent_name: 'support-agent' },
  since: '2026-11-21T09:25:00.000Z',
  report_url: `${dashboard}/alert-rules`,
}

export const eventExamples: readonly EventExample[] = [
  { title: 'A failing score', event: 'threat_detected', data: threat },
  {
    title: 'A failing score of a tool call',
    event: 'threat_detected',
    data: {
      ...threat,
      tool_name: 'send_email',
      arguments: { to: '[email]', subject: 'Your receipt' },
      session_id: 'session-42',
    },
  },
  {
    title: 'So much of the quota is used up that the project wants to be told',
    event: 'usage_alert',
    data: { ...usage, alert_type: 'quota_warning', current_count: 8_000 },
  },
  { title: 'The quota is used up', event: 'usage_alert', data: usage },
  {
    title: 'A cost threshold is passed',
    event: 'usage_alert',
    data: {
      ...usage,
      alert_type: 'cost_threshold',
      current_count: 7_400,
      threshold_usd: 50,
      current_usd: 50.12,
    },
  },
  {
    title: 'A call was refused because the monthly budget of its key is used up',
    event: 'usage_alert',
    data: {
      ...usage,
      alert_type: 'key_budget_exceeded',
      current_count: 7_400,
      threshold_usd: 20,
      current_usd: 19.984211,
      key_id: 'key_01h455vb4pex5vsknk084sn02q',
      key_name: 'Ada, coding agent',
    },
  },
  {
    title: 'A red-team run is over',
    event: 'redteam_complete',
    data: {
      run_id: run,
      agent_name: 'support-agent',
      total_probes: 120,
      pass_count: 115,
      fail_count: 5,
      critical_count: 1,
      duration_seconds: 340,
      report_url: `${dashboard}/runs/${run}`,
    },
  },
  {
    title: 'A tool is called for the first time',
    event: 'new_tool_detected',
    data: {
      tool_name: 'send_email',
      agent_name: 'support-agent',
      session_id: 'session-42',
      request_id: request,
    },
  },
  {
    title: 'An MCP server describes a tool otherwise',
    event: 'tool_definition_changed',
    data: {
      server: 'github',
      tool_name: 'create_issue',
      definition_hash: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
      previous_hash: 'fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9',
      agent_name: 'claude-code',
      session_id: 'session-42',
      request_id: request,
    },
  },
  { title: 'A new finding', event: 'finding_opened', data: finding },
  {
    title: 'A resolved finding has another call',
    event: 'finding_reopened',
    data: { ...finding, previous_state: 'resolved', count: 7, last_seen: '2026-11-24T11:02:00.000Z' },
  },
  {
    title: 'A person takes on a finding',
    event: 'finding_acknowledged',
    data: { ...finding, state: 'acknowledged', previous_state: 'open', changed_by: 'ana@example.com' },
  },
  {
    title: 'A person resolves a finding',
    event: 'finding_resolved',
    data: { ...finding, state: 'resolved', previous_state: 'acknowledged', changed_by: 'ana@example.com' },
  },
  { title: 'An alert rule fires', event: 'alert_fired', data: alert },
  { title: 'An alert rule recovers', event: 'alert_recovered', data: { ...alert, value: 0.2 } },
]
