import { z } from 'zod'
import type { EventName } from './event-raised.ts'
import { severitySchema } from './verdicts.ts'

export const findingStates = ['open', 'acknowledged', 'resolved', 'false_alarm', 'muted'] as const
export type FindingState = (typeof findingStates)[number]

const timestamp = z.string().describe('ISO 8601, UTC')

/** `data` of `threat_detected` (specification 6.4). The last three only for tool calls. */
const threatDetectedData = z.object({
  request_id: z.string(),
  agent_name: z.string().nullable(),
  agent_tag: z.string().nullable(),
  model: z.string(),
  scorer_name: z.string(),
  score_label: z.literal('fail'),
  score_value: z.number().min(0).max(1).describe('(score − 1) ÷ 4'),
  severity: severitySchema,
  owasp_category: z.string().nullable(),
  owasp_description: z.string().nullable(),
  prompt_snippet: z
    .string()
    .describe('Around what the scorer found; of a call where it found nothing there, the beginning'),
  completion_snippet: z.string().nullable(),
  latency_ms: z.number().nullable(),
  run_id: z.string(),
  report_url: z.string(),
  suppressed: z
    .boolean()
    .describe('Whether a suppression marks it as a known false alarm; absent in events of versions before'),
  finding_id: z
    .string()
    .nullable()
    .describe('The finding that counts it; null for suppressed scores, red teams and replays'),
  finding_state: z.enum(findingStates).nullable().describe('The state of the finding then'),
  first_in_finding: z.boolean().nullable().describe('Whether it opened the finding as a new one'),
  tool_name: z.string().optional(),
  arguments: z.unknown().optional(),
  session_id: z.string().nullable().optional(),
})

/**
 * `data` of `usage_alert` (specification 6.5). Dollars only for `cost_threshold` and `key_budget_exceeded`,
 * whose period is the calendar month; a key only for the latter.
 */
const usageAlertData = z.object({
  alert_type: z.enum(['quota_exceeded', 'quota_warning', 'cost_threshold', 'key_budget_exceeded']),
  tier: z.string(),
  limit: z.number().int().nullable(),
  current_count: z.number().int(),
  period_start: timestamp,
  period_end: timestamp,
  threshold_usd: z.number().optional(),
  current_usd: z.number().optional(),
  key_id: z.string().optional(),
  key_name: z.string().optional(),
})

/** `data` of `redteam_complete` (specification 6.6). */
const redteamCompleteData = z.object({
  run_id: z.string(),
  agent_name: z.string(),
  total_probes: z.number().int(),
  pass_count: z.number().int(),
  fail_count: z.number().int(),
  critical_count: z.number().int(),
  duration_seconds: z.number().int(),
  report_url: z.string(),
})

/** `data` of `new_tool_detected`: the first call of a tool name in a project. */
const newToolDetectedData = z.object({
  tool_name: z.string(),
  agent_name: z.string().nullable(),
  session_id: z.string().nullable(),
  request_id: z.string(),
})

/** `data` of `tool_definition_changed`: an MCP server describes a tool otherwise than it did last. */
const toolDefinitionChangedData = z.object({
  server: z.string().describe("the server's name among the gateway's upstreams"),
  tool_name: z.string(),
  definition_hash: z.string().describe('SHA-256 of the definition; its text is in the request'),
  previous_hash: z.string(),
  agent_name: z.string().nullable(),
  session_id: z.string().nullable(),
  request_id: z.string().describe('the request that holds the new definition'),
})

/** `data` of the `finding_…` events: the finding as it was then. */
const findingData = z.object({
  finding_id: z.string(),
  state: z.enum(findingStates),
  previous_state: z.enum(findingStates).nullable().describe('null when it is new'),
  scorer_name: z.string(),
  severity: severitySchema.describe('the worst of its calls'),
  evidence_kind: z.string().nullable(),
  agent_name: z.string().nullable(),
  tool_name: z.string().nullable(),
  owasp_category: z.string().nullable(),
  owasp_description: z.string().nullable(),
  count: z.number().int().describe('failing scores so far'),
  first_seen: timestamp,
  last_seen: timestamp,
  request_id: z
    .string()
    .nullable()
    .describe('the call that changed it, or its last one; null: all were erased'),
  changed_by: z.string().nullable().describe('who changed it; null: nobody, a call did'),
  report_url: z.string(),
})

/** `data` of `alert_fired` and `alert_recovered`. */
const alertData = z.object({
  rule_id: z.string(),
  rule_name: z.string(),
  metric: z.string(),
  level: z.enum(['warning', 'alert']).describe('of `alert_recovered`: the level that it leaves'),
  value: z.number().nullable().describe('null: the window had no calls'),
  threshold: z.number(),
  window_minutes: z.number().int(),
  compared_with: z.number().nullable().describe('the value a week before, where the rule compares with it'),
  filter: z.record(z.string(), z.string()).describe('what the rule watches'),
  since: timestamp.describe('since when it fires'),
  report_url: z.string(),
})

/** The `data` of each event, besides `test: true` in a test event. */
const eventData = {
  threat_detected: threatDetectedData,
  usage_alert: usageAlertData,
  redteam_complete: redteamCompleteData,
  new_tool_detected: newToolDetectedData,
  tool_definition_changed: toolDefinitionChangedData,
  finding_opened: findingData,
  finding_reopened: findingData,
  finding_acknowledged: findingData,
  finding_resolved: findingData,
  alert_fired: alertData,
  alert_recovered: alertData,
} as const satisfies Record<EventName, z.ZodObject>

/** The `data` that the maker of an event provides. */
export type EventData<E extends EventName> = z.input<(typeof eventData)[E]>

/** Every field that the `data` of some event can hold: expressions read the absent ones as null. */
export const eventDataFields: readonly string[] = [
  ...new Set(['test', ...Object.values(eventData).flatMap((schema) => Object.keys(schema.shape))]),
].sort()

const envelopeSchema = z.object({
  event: z.string(),
  id: z
    .string()
    .describe('`evt_…`; the same at every attempt and for every webhook: remember it to see each event once'),
  created_at: timestamp,
  project_id: z.string(),
  data: z.unknown(),
})

/** The fields of the envelope (specification 6.2), which filter expressions can read. */
export const envelopeFields: readonly string[] = Object.keys(envelopeSchema.shape)

/** The body of a delivery of that event. Receivers should expect fields to be added. */
export function deliveredEventSchema(event: EventName): z.ZodObject {
  const test = z.literal(true).optional().describe('only in test events')
  return envelopeSchema.extend({ event: z.literal(event), data: eventData[event].extend({ test }) })
}
