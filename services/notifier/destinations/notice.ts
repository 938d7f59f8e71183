import type { EventName, RaisedEvent } from '#schemas/event-raised.ts'
import type { JoinedData } from '#schemas/join-event.ts'
import { severities, type Severity } from '#schemas/verdicts.ts'

/** What every destination says of an event, before it is written in a format. */
export interface Notice {
  event: EventName
  /** `evt_…` */
  id: string
  projectId: string
  createdAtMs: number
  /** One line, without quoted text. */
  title: string
  /** Null: the event has none, such as a usage alert. */
  severity: Severity | null
  /** What an incident system does with it; `none`: the event opens and closes nothing. */
  action: 'trigger' | 'acknowledge' | 'resolve' | 'none'
  /** The same for all events of one problem. */
  dedupKey: string
  /** Names and values, in order; at most a dozen. */
  facts: readonly (readonly [name: string, value: string])[]
  /** Where to look. Null: nowhere. */
  link: string | null
  /** Masked text of the call; empty unless the destination asks for it. */
  quotes: readonly (readonly [name: string, text: string])[]
  data: Readonly<Record<string, unknown>>
}

/** Longest value of a fact: an agent's name may be any text. */
const maxFact = 200
const maxQuote = 1_000

const titles: Readonly<Record<EventName, (text: (field: string) => string) => string>> = {
  threat_detected: (text) => `${text('scorer_name')} failed for ${text('agent_name') || 'a call'}`,
  finding_opened: (text) => `New finding: ${text('scorer_name')}${of(text('agent_name'))}`,
  finding_reopened: (text) => `Finding reopened: ${text('scorer_name')}${of(text('agent_name'))}`,
  finding_acknowledged: (text) => `Finding acknowledged: ${text('scorer_name')}${of(text('agent_name'))}`,
  finding_resolved: (text) => `Finding resolved: ${text('scorer_name')}${of(text('agent_name'))}`,
  alert_fired: (text) => `Alert: ${text('rule_name')}`,
  alert_recovered: (text) => `Recovered: ${text('rule_name')}`,
  usage_alert: (text) => `Usage: ${text('alert_type').replaceAll('_', ' ')}`,
  redteam_complete: (text) =>
    `Red-team run completed: ${text('fail_count')} of ${text('total_probes')} failed`,
  new_tool_detected: (text) => `New tool: ${text('tool_name')}`,
  tool_definition_changed: (text) => `Changed tool: ${text('tool_name')} of ${text('server')}`,
}

/** Fields of `data` that are shown, with their names for people. Fields that an event lacks are left out. */
const facts: readonly (readonly [field: string, name: string])[] = [
  ['severity', 'Severity'],
  ['scorer_name', 'Scorer'],
  ['owasp_description', 'OWASP'],
  ['evidence_kind', 'Evidence'],
  ['agent_name', 'Agent'],
  ['tool_name', 'Tool'],
  ['model', 'Model'],
  ['count', 'Occurrences'],
  ['first_seen', 'First seen'],
  ['metric', 'Metric'],
  ['value', 'Value'],
  ['threshold', 'Threshold'],
  ['window_minutes', 'Window (minutes)'],
  ['current_count', 'Requests'],
  ['limit', 'Limit'],
  ['changed_by', 'By'],
]
const maxFacts = 12

/** The content of an event for a destination. `withText`: with the masked snippets of the call. */
export function noticeOf(event: RaisedEvent, { fields }: JoinedData, withText: boolean): Notice {
  const text = (field: string) => oneLine(fields[field])
  const severity = severities.find((one) => one === fields['severity']) ?? null
  return {
    event: event.event,
    id: event.id,
    projectId: event.project_id,
    createdAtMs: event.created_at,
    title: titles[event.event](text),
    severity: event.event === 'alert_fired' ? severityOfAlert(fields['level']) : severity,
    action: actionOf(event.event),
    dedupKey: dedupKeyOf(event, fields),
    facts: facts
      .map(([field, name]) => [name, text(field)] as const)
      .filter(([, value]) => value !== '')
      .slice(0, maxFacts),
    link: typeof fields['report_url'] === 'string' ? fields['report_url'] : null,
    quotes: withText ? quotesOf(fields) : [],
    data: withText ? fields : withoutText(fields),
  }
}

function actionOf(event: EventName): Notice['action'] {
  if (event === 'finding_acknowledged') return 'acknowledge'
  if (event === 'finding_resolved' || event === 'alert_recovered') return 'resolve'
  const opens: readonly EventName[] = ['finding_opened', 'finding_reopened', 'alert_fired', 'threat_detected']
  return opens.includes(event) ? 'trigger' : 'none'
}

/** The event of a finding or rule belongs to it, any other to itself. */
function dedupKeyOf({ id }: RaisedEvent, fields: JoinedData['fields']): string {
  const key = fields['finding_id'] ?? fields['rule_id']
  return typeof key === 'string' ? key : id
}

function severityOfAlert(level: unknown): Severity {
  return level === 'warning' ? 'medium' : 'high'
}

function quotesOf(fields: JoinedData['fields']): [string, string][] {
  const quotes: [string, string][] = []
  for (const [name, field] of [
    ['Prompt', 'prompt_snippet'],
    ['Answer', 'completion_snippet'],
  ] as const) {
    const text = fields[field]
    if (typeof text === 'string' && text !== '') quotes.push([name, text.slice(0, maxQuote)])
  }
  return quotes
}

const quoted = new Set(['prompt_snippet', 'completion_snippet', 'arguments'])

function withoutText(fields: JoinedData['fields']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !quoted.has(name)))
}

function of(agent: string): string {
  return agent === '' ? '' : ` (${agent})`
}

/** A field of `data` that is text; empty if it is none. */
export function textIn(data: Notice['data'], field: string): string {
  const value = data[field]
  return typeof value === 'string' ? value : ''
}

/** A value on one line: names of agents and tools come from callers. */
function oneLine(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  return String(value)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, maxFact)
}
