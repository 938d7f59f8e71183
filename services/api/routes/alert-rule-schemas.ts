import { z } from 'zod'
import {
  alertComparisons,
  alertDirections,
  alertMetrics,
  filtersOf,
  hasPast,
  isOffered,
  maxWindowMinutes,
  metadataOf,
  type AlertRule,
  type OfferedFilter,
} from '#schemas/alert-rule.ts'
import { longestLabelValue } from '#schemas/call-labels.ts'
import { alertStatuses } from '#schemas/alert-state.ts'
import { severities } from '#schemas/verdicts.ts'
import { textField } from '#http/fields.ts'
import { invalidInput, type FieldError } from '#http/problem.ts'

const minutes = (min: number, max: number) => z.number().int().min(min).max(max)

const filterSchema = z
  .object({
    agent_name: textField(256),
    model: textField(256),
    provider: textField(64),
    source: textField(64),
    tool_name: textField(256),
    scorer_name: textField(100),
    severity: z.enum(severities),
  })
  .partial()
  // Members besides the named ones are checked with the rule.
  .catchall(textField(longestLabelValue))
  .describe(
    'All that is given must fit: `metadata.<key>` too, of keys that the project declares (`metadata_keys`). A severity selects worse ones too. `scorer_name` counts scores instead of calls, and goes with `severity` and `source` alone. Without `source`, attacks by the red team are left out.',
  )

const ruleFields = {
  metric: z.enum(alertMetrics).describe('docs/alerts.md says what each measures.'),
  filter: filterSchema,
  window_minutes: minutes(5, maxWindowMinutes),
  direction: z.enum(alertDirections),
  warning_threshold: z.number().nullable().describe('Null: no warning.'),
  alert_threshold: z.number().describe('Shares are from 0 to 1, latencies in ms.'),
  for_minutes: minutes(0, 1_440).describe('How long it must be passed before the rule fires.'),
  cooldown_minutes: minutes(0, 10_080).describe(
    'After it fired, so long it does not fire again at the same level.',
  ),
  compare: z
    .enum(alertComparisons)
    .describe('`last_week`: thresholds are multiples of the value a week before.'),
}
const named = { name: textField(200), enabled: z.boolean() }

/** Absent fields stay. */
export const changeBody = z.strictObject({ ...named, ...ruleFields }).partial()

export const previewBody = z.strictObject({
  ...ruleFields,
  filter: filterSchema.default({}),
  direction: ruleFields.direction.default('above'),
  warning_threshold: ruleFields.warning_threshold.default(null),
  for_minutes: ruleFields.for_minutes.default(0),
  cooldown_minutes: ruleFields.cooldown_minutes.default(60),
  compare: ruleFields.compare.default('none'),
})
export const createBody = previewBody.extend({ ...named, enabled: named.enabled.default(true) })

const count = z.number().int()

export const alertRuleSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  metric: z.enum(alertMetrics),
  filter: z.record(z.string(), z.string()),
  window_minutes: count,
  direction: z.enum(alertDirections),
  warning_threshold: z.number().nullable(),
  alert_threshold: z.number(),
  for_minutes: count,
  cooldown_minutes: count,
  compare: z.enum(alertComparisons),
  is_built_in: z
    .boolean()
    .describe('Came by itself (docs/alerts.md). It can be changed, but for the metric, and disabled.'),
  state: z.object({
    status: z.enum(alertStatuses).describe('`late`: the sink is behind, or the evaluation is.'),
    since: z.iso.datetime(),
    fires_since: z.iso.datetime().nullable().describe('Null: nobody was told, or of the recovery too.'),
    value: z.number().nullable().describe('The last that was read. Null: the window had no calls.'),
    compared_with: z.number().nullable().describe('The value a week before.'),
    evaluated_until: z.iso.datetime().nullable().describe('End of the window that was read last.'),
  }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})

export const previewSchema = z.object({
  start: z.iso.datetime(),
  end: z.iso.datetime().describe('The last whole hour.'),
  hours: count.describe('Hours that were evaluated: counts older than two days are by the hour.'),
  hours_without_data: count,
  fired: count.describe('`alert_fired` events that it would have raised.'),
  intervals: z.array(
    z.object({
      level: z.enum(['warning', 'alert']),
      start: z.iso.datetime().describe('End of the first hour that had this level.'),
      end: z.iso.datetime().nullable().describe('Null: it would still fire.'),
      worst_value: z.number(),
      notified: z.boolean().describe('False: an earlier event covers it, or the cooldown held it back.'),
    }),
  ),
})

/** Throws 422 for fields that do not go together, and for metadata keys that the project does not declare. */
export function checkAlertRule(rule: AlertRule, declaredKeys: readonly string[]): void {
  const faults: FieldError[] = []
  const allowed = filtersOf(rule)
  for (const name of Object.keys(rule.filter)) {
    if (isOffered(name, allowed)) continue
    const besides = rule.filter.scorer_name === undefined ? '' : ' by scorer'
    const named = allowed.length === 0 ? 'no filter' : allowed.map(spellFilter).join(', ')
    faults.push({ path: `filter.${name}`, message: `${rule.metric}${besides} can be filtered by ${named}` })
  }
  for (const [key] of metadataOf(rule.filter)) {
    if (declaredKeys.includes(key)) continue
    const declared = declaredKeys.length === 0 ? 'none' : declaredKeys.join(', ')
    faults.push({
      path: `filter.metadata.${key}`,
      message: `is not among the project's metadata_keys (${declared}), which the operator declares`,
    })
  }
  if (rule.compare !== 'none' && !hasPast(rule.metric))
    faults.push({ path: 'compare', message: `must be none: ${rule.metric} is known for now alone` })
  const { warning_threshold: warning, alert_threshold: alert, direction } = rule
  if (warning !== null && (direction === 'above' ? warning >= alert : warning <= alert))
    faults.push({
      path: 'warning_threshold',
      message: `must be ${direction === 'above' ? 'below' : 'above'} alert_threshold, which is worse`,
    })
  if (faults.length > 0) throw invalidInput(faults)
}

const spellFilter = (name: OfferedFilter) => (name === 'metadata' ? 'metadata.<key>' : name)
