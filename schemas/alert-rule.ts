import { latencyPercentile } from './latency-buckets.ts'
import { isMetadataFilter, metadataKeyOf } from './metadata-filter.ts'
import type { Severity } from './verdicts.ts'

/** What a rule measures. `unsafe_…` counts calls, or scores of one scorer where the rule names it. */
export const alertMetrics = [
  'unsafe_share',
  'unsafe_count',
  'failed_share',
  'latency_p95',
  'cost_usd',
  'tokens',
  'calls',
  'not_read_share',
  'delivery_failures',
  'spool_wait_s',
  'judge_budget_share',
] as const
export type AlertMetric = (typeof alertMetrics)[number]

const alertFilterNames = [
  'agent_name',
  'model',
  'provider',
  'source',
  'tool_name',
  'scorer_name',
  'severity',
] as const
type AlertFilterName = (typeof alertFilterNames)[number]
/** Besides the names: `metadata.<key>`, of keys that the project declares. */
export type AlertFilter = Partial<Record<AlertFilterName, string>> & {
  [name: `metadata.${string}`]: string
}

/** The declared keys that a filter names, with their values. */
export function metadataOf(filter: AlertFilter): [key: string, value: string][] {
  return Object.entries(filter).flatMap(([name, value]) =>
    isMetadataFilter(name) ? [[metadataKeyOf(name), value]] : [],
  )
}

/** Whether only counts by label have what the filter names. */
function isLabelled(filter: AlertFilter): boolean {
  return filter.tool_name !== undefined || metadataOf(filter).length > 0
}

export const alertDirections = ['above', 'below'] as const
export const alertComparisons = ['none', 'last_week'] as const

/** Per project: each is evaluated every minute. */
export const maxAlertRules = 50
export const maxWindowMinutes = 1_440

/** A rule without its name and owner. */
export interface AlertRule {
  metric: AlertMetric
  filter: AlertFilter
  window_minutes: number
  direction: (typeof alertDirections)[number]
  /** Null: no warning. */
  warning_threshold: number | null
  alert_threshold: number
  /** How long the threshold must be passed before the rule fires. */
  for_minutes: number
  /** After it fired, so long it does not fire again at the same level. */
  cooldown_minutes: number
  /** `last_week`: thresholds are multiples of the value a week before. */
  compare: (typeof alertComparisons)[number]
}

/** The counts that a rule needs. */
export type AlertCounts =
  | ('calls' | 'latency' | 'readings' | 'scores' | 'deliveries' | 'spools' | 'judge')
  | ('labelled_calls' | 'labelled_latency' | 'labelled_readings')

/** Counts that are not of calls, and have no filters. */
const countsBeside: Partial<Record<AlertMetric, AlertCounts>> = {
  delivery_failures: 'deliveries',
  spool_wait_s: 'spools',
  judge_budget_share: 'judge',
}

/** Whether a metric is of calls and so waits for the sink. */
export const isOfCalls = (metric: AlertMetric): boolean => countsBeside[metric] === undefined

/** Whether a metric has a past: what gateways report and what is spent are known for now alone. */
export const hasPast = (metric: AlertMetric): boolean =>
  metric !== 'spool_wait_s' && metric !== 'judge_budget_share'

/** Which counts have the rule's metric. */
export function countsOf({ metric, filter }: Pick<AlertRule, 'metric' | 'filter'>): AlertCounts {
  const beside = countsBeside[metric]
  if (beside !== undefined) return beside
  if (filter.scorer_name !== undefined) return 'scores'
  const counts = metric === 'latency_p95' ? 'latency' : metric === 'not_read_share' ? 'readings' : 'calls'
  return isLabelled(filter) ? `labelled_${counts}` : counts
}

/** What a metric can be filtered by; `metadata`: by declared keys. */
export type OfferedFilter = AlertFilterName | 'metadata'

const filtersOfCalls: readonly OfferedFilter[] = [
  ...(['agent_name', 'model', 'provider', 'source', 'tool_name', 'metadata'] as const),
]

/** The filters that the counts of a metric have. */
export function filtersOf(rule: Pick<AlertRule, 'metric' | 'filter'>): readonly OfferedFilter[] {
  const { metric, filter } = rule
  if (!isOfCalls(metric)) return []
  const isUnsafe = metric === 'unsafe_share' || metric === 'unsafe_count'
  if (!isUnsafe) return filtersOfCalls
  if (filter.scorer_name !== undefined) return ['scorer_name', 'severity', 'source']
  return [...filtersOfCalls, 'severity', 'scorer_name']
}

/** Whether a filter's name is among the offered ones. */
export function isOffered(name: string, offered: readonly OfferedFilter[]): boolean {
  if (isMetadataFilter(name)) return offered.includes('metadata')
  return name !== 'metadata' && offered.some((one) => one === name)
}

/** Sums over a window. Postgres writes them as text: they have more digits than a number. */
export type AlertSums = Partial<Record<(typeof sumNames)[number], string | null>> & {
  latencies?: readonly (string | null)[] | null
}
const sumNames = [
  ...(['total', 'failed', 'tokens', 'cost_picodollars', 'judged'] as const),
  ...(['unsafe', 'critical', 'high', 'not_read', 'level'] as const),
] as const

/** Metrics that grow with the length of the window. */
const countedMetrics: ReadonlySet<AlertMetric> = new Set([
  'unsafe_count',
  'cost_usd',
  'tokens',
  'calls',
  'delivery_failures',
])
/** Metrics for which a window without calls is an answer. */
const knownWithoutCalls: ReadonlySet<AlertMetric> = new Set(['calls', 'delivery_failures'])

/**
 * The value of a rule's metric; null: the window had no calls. `share` is the part of the summed time that
 * the window has: counts by the hour are scaled to shorter windows.
 */
export function measureAlert(
  { metric, filter }: Pick<AlertRule, 'metric' | 'filter'>,
  sums: AlertSums,
  share = 1,
): number | null {
  const total = numberOf(sums.total)
  if (total === 0 && !knownWithoutCalls.has(metric)) return null
  const value = valueOf(metric, filter.severity as Severity | undefined, sums, total)
  if (value === null) return null
  // Hostile costs and token counts can be beyond what JSON and Postgres take as a number.
  return Math.min(countedMetrics.has(metric) ? value * share : value, Number.MAX_VALUE)
}

function valueOf(
  metric: AlertMetric,
  severity: Severity | undefined,
  sums: AlertSums,
  total: number,
): number | null {
  switch (metric) {
    case 'calls':
      return total
    case 'delivery_failures':
      return numberOf(sums.failed)
    case 'spool_wait_s':
    case 'judge_budget_share':
      return numberOf(sums.level)
    case 'tokens':
      return numberOf(sums.tokens)
    case 'cost_usd':
      return numberOf(sums.cost_picodollars) / 1e12
    case 'failed_share':
      return numberOf(sums.failed) / total
    case 'not_read_share':
      return numberOf(sums.not_read) / total
    case 'latency_p95':
      return latencyPercentile((sums.latencies ?? []).map(numberOf), 0.95)
    case 'unsafe_count':
      return unsafeOf(sums, severity)
    case 'unsafe_share': {
      const judged = numberOf(sums.judged)
      return judged === 0 ? null : unsafeOf(sums, severity) / judged
    }
  }
}

/** A severity selects that one and worse ones. */
function unsafeOf(sums: AlertSums, severity: Severity | undefined): number {
  const critical = numberOf(sums.critical)
  const high = numberOf(sums.high)
  if (severity === 'critical') return critical
  if (severity === 'high') return critical + high
  return numberOf(sums.unsafe)
}

const numberOf = (text: string | null | undefined): number => Math.max(0, Number(text ?? 0))

/** The value a week before. Null: there was nothing to compare with. */
export function measureBefore(
  rule: Pick<AlertRule, 'metric' | 'filter'>,
  sums: AlertSums,
  share: number,
): number | null {
  return numberOf(sums.total) === 0 ? null : measureAlert(rule, sums, share)
}

/** The sums of several hours together. */
export function addAlertSums(each: readonly AlertSums[]): AlertSums {
  const total = (values: readonly (string | null | undefined)[]) =>
    String(values.reduce((sum, value) => sum + numberOf(value), 0))
  const [first] = each
  return {
    ...Object.fromEntries(sumNames.map((name) => [name, total(each.map((sums) => sums[name]))])),
    latencies:
      first?.latencies?.map((_, bucket) => total(each.map((sums) => sums.latencies?.[bucket]))) ?? null,
  }
}
