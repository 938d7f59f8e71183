import { filtersOf, isOffered } from '#schemas/alert-rule.ts'
import { isMetadataFilter, metadataKeyOf, metadataPrefix } from '#schemas/metadata-filter.ts'
import type { Answer, Input, Item } from '../../api/call-api.ts'
import { absent, formatCount, formatDuration, formatShare, formatUsd } from '../../formats/format-number.ts'

export type AlertRule = Item<'GET /api/alert-rules'>
export type RuleBody = Input<'POST /api/alert-rules'>['body']
export type Metric = AlertRule['metric']
export type DryRun = Answer<'POST /api/alert-rules/preview'>

export const metricWords: Readonly<Record<Metric, string>> = {
  unsafe_share: 'Unsafe share',
  unsafe_count: 'Unsafe calls',
  failed_share: 'Failed share',
  latency_p95: 'Latency p95',
  cost_usd: 'Cost',
  tokens: 'Tokens',
  calls: 'Calls',
  not_read_share: 'Share not read',
  delivery_failures: 'Failed deliveries',
  spool_wait_s: 'Wait in a gateway’s spool',
  judge_budget_share: 'Judge’s budget spent',
}

const filterWords: Readonly<Record<string, string>> = {
  agent_name: 'Agent',
  model: 'Model',
  provider: 'Provider',
  source: 'Source',
  tool_name: 'Tool',
  scorer_name: 'Scorer',
  severity: 'Severity, and worse',
}

export function labelOfFilter(name: string): string {
  return filterWords[name] ?? (isMetadataFilter(name) ? metadataKeyOf(name) : name)
}

type Measured = Pick<AlertRule, 'metric' | 'compare'>

/** Whether thresholds are shown as percentages; the API has shares from 0 to 1. */
function isPercent({ metric, compare }: Measured): boolean {
  return compare === 'none' && metric.endsWith('_share')
}

/** A threshold as it is typed. */
export function thresholdText(value: number | null, rule: Measured): number | '' {
  // Ten digits hide what binary fractions add: 0.07 * 100 is 7.000000000000001.
  return value === null ? '' : isPercent(rule) ? Number((value * 100).toPrecision(10)) : value
}

/** A threshold as the API takes it; null: none. */
export function readThreshold(typed: number | '', rule: Measured): number | null {
  return typed === '' ? null : isPercent(rule) ? Number((typed / 100).toPrecision(10)) : typed
}

/** The unit of thresholds. */
export function unitOf({ metric, compare }: Measured): string {
  if (compare === 'last_week') return 'times the value a week before'
  if (metric.endsWith('_share')) return '%'
  return (
    {
      ...{ latency_p95: 'ms', cost_usd: 'US$', tokens: 'tokens', delivery_failures: 'deliveries' },
      spool_wait_s: 's',
    }[metric as string] ?? 'calls'
  )
}

/** A value of the metric. */
export function formatValue(value: number | null, metric: Metric): string {
  if (value === null) return absent
  if (metric.endsWith('_share')) return formatShare(value, 1)
  if (metric === 'latency_p95') return formatDuration(value)
  if (metric === 'spool_wait_s') return formatDuration(value * 1_000)
  return metric === 'cost_usd' ? formatUsd(value) : formatCount(value)
}

/** What a rule watches, in one line. */
export function describeRule(rule: AlertRule): string {
  const { metric, filter, window_minutes: minutes, direction, compare } = rule
  const filters = Object.entries(filter).map(([name, value]) => ` · ${labelOfFilter(name)}: ${value}`)
  const thresholds = [rule.warning_threshold, rule.alert_threshold]
    .filter((threshold) => threshold !== null)
    .map((threshold) => (compare === 'none' ? formatValue(threshold, metric) : `${threshold} times`))
  const than = compare === 'none' ? '' : ' of last week'
  const window = minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`
  return `${metricWords[metric]} of ${window} ${direction} ${thresholds.join(' / ')}${than}${filters.join('')}`
}

/** The fields of the form. */
export interface RuleValues {
  name: string
  metric: Metric
  filter: Record<string, string>
  window: number | ''
  direction: AlertRule['direction']
  compare: AlertRule['compare']
  warning: number | ''
  alert: number | ''
  forMinutes: number | ''
  cooldown: number | ''
}

export function valuesOf(rule: AlertRule | undefined): RuleValues {
  if (rule === undefined)
    return {
      ...{ name: '', metric: 'unsafe_share', filter: {}, window: 15, direction: 'above', compare: 'none' },
      ...{ warning: '', alert: '', forMinutes: 0, cooldown: 60 },
    }
  return {
    name: rule.name,
    metric: rule.metric,
    filter: { ...rule.filter },
    window: rule.window_minutes,
    direction: rule.direction,
    compare: rule.compare,
    warning: thresholdText(rule.warning_threshold, rule),
    alert: thresholdText(rule.alert_threshold, rule),
    forMinutes: rule.for_minutes,
    cooldown: rule.cooldown_minutes,
  }
}

/** The filters that the chosen metric can have, given those that are filled in and the declared keys. */
export function offeredFilters(
  { metric, filter }: Pick<RuleValues, 'metric' | 'filter'>,
  metadataKeys: readonly string[],
): readonly string[] {
  return filtersOf({ metric, filter: filledIn(filter) }).flatMap((name) =>
    name === 'metadata' ? metadataKeys.map((key) => `${metadataPrefix}${key}`) : [name],
  )
}

const filledIn = (filter: Record<string, string>) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))

/** The body for the API, without the name. Filters that the metric cannot have are left out. */
export function bodyOf(values: RuleValues): Omit<RuleBody, 'name' | 'enabled'> {
  const filled = filledIn(values.filter)
  const offered = filtersOf({ metric: values.metric, filter: filled })
  const isKnown = (name: string) => Object.hasOwn(filterWords, name) || isMetadataFilter(name)
  const filter = Object.entries(filled).filter(
    // Filters that this form does not know are the API's to judge.
    ([name]) => isOffered(name, offered) || !isKnown(name),
  )
  return {
    metric: values.metric,
    filter: Object.fromEntries(filter),
    window_minutes: Number(values.window),
    direction: values.direction,
    warning_threshold: readThreshold(values.warning, values),
    alert_threshold: readThreshold(values.alert, values) ?? 0,
    for_minutes: Number(values.forMinutes),
    cooldown_minutes: Number(values.cooldown),
    compare: values.compare,
  }
}

const fieldOfPath: Readonly<Record<string, string>> = {
  window_minutes: 'window',
  warning_threshold: 'warning',
  alert_threshold: 'alert',
  for_minutes: 'forMinutes',
  cooldown_minutes: 'cooldown',
}

/** The API's faults by field of the form. */
export function errorsByField(errors: readonly { path: string; message: string }[]): Record<string, string> {
  return Object.fromEntries(errors.map(({ path, message }) => [fieldOfPath[path] ?? path, message]))
}
