import { isMetadataFilter, metadataKeyOf } from '#schemas/metadata-filter.ts'
import type { Answer } from '../../api/call-api.ts'
import {
  formatCount,
  formatDuration,
  formatShare,
  formatShort,
  formatUsd,
} from '../../formats/format-number.ts'
import type { SearchTexts } from '../../formats/search-texts.ts'

export type Costs = Answer<'GET /api/costs'>
export type Group = Costs['groups'][number]
type Sums = Omit<Group, 'values' | 'is_other' | 'previous' | 'latency_p50_ms' | 'latency_p95_ms'>

/** The dimensions besides metadata keys, with their words and the request filter for a value. */
export const dimensions = {
  model: { label: 'Model', filter: 'model' },
  provider: { label: 'Provider', filter: 'provider' },
  agent: { label: 'Agent', filter: 'agent_name' },
  source: { label: 'Source', filter: 'source' },
  user: { label: 'User', filter: 'user_id' },
  project: { label: 'Project', filter: 'project' },
} as const
export type DimensionName = keyof typeof dimensions

const isPlain = (name: string): name is DimensionName => Object.hasOwn(dimensions, name)

export function labelOfDimension(name: string): string {
  if (isPlain(name)) return dimensions[name].label
  return isMetadataFilter(name) ? metadataKeyOf(name) : name
}

/** What the chart shows and the table is ordered by. */
export const metrics = {
  cost: { label: 'Cost', order: 'cost', valueOf: (sums: Sums) => sums.cost_usd, format: formatUsd },
  calls: { label: 'Calls', order: 'calls', valueOf: (sums: Sums) => sums.calls, format: formatShort },
  tokens: { label: 'Tokens', order: 'tokens', valueOf: (sums: Sums) => sums.tokens, format: formatShort },
  failed: { label: 'Failed', order: 'failed', valueOf: (sums: Sums) => sums.failed, format: formatShort },
  unsafe: { label: 'Unsafe', order: 'unsafe', valueOf: (sums: Sums) => sums.unsafe, format: formatShort },
  latency: { label: 'Latency', order: 'calls', valueOf: undefined, format: formatDuration },
} as const
export type Metric = keyof typeof metrics

export const readMetric = (text: string | undefined): Metric =>
  text !== undefined && Object.hasOwn(metrics, text) ? (text as Metric) : 'cost'

/** A group in words. */
export function nameOfGroup(
  { values, is_other }: Pick<Group, 'values' | 'is_other'>,
  by: readonly string[],
  projectName: (id: string) => string,
): string {
  if (is_other) return 'All others'
  return values
    .map((value, place) => {
      const dimension = by[place] ?? ''
      if (value === null) return `No ${labelOfDimension(dimension).toLowerCase()}`
      return dimension === 'project' ? projectName(value) : value
    })
    .join(', ')
}

/** Filters of the requests of a group; undefined: calls without a value cannot be listed. */
export function filtersOfGroup(
  { values, is_other }: Pick<Group, 'values' | 'is_other'>,
  by: readonly string[],
): SearchTexts | undefined {
  if (is_other || values.includes(null)) return undefined
  return Object.fromEntries(
    values.map((value, place) => {
      const name = by[place] ?? ''
      return [isPlain(name) ? dimensions[name].filter : name, value ?? undefined]
    }),
  )
}

/** `US$8.00, +25%`: the period before, and the change since. Of nothing there is no share. */
export function describeBefore(now: number, before: number, format: (value: number) => string): string {
  if (before === 0) return format(0)
  const change = formatShare(now - before, before)
  return `${format(before)}, ${now === before ? 'unchanged' : now > before ? `+${change}` : change}`
}

/** The chart's steps with a value for each of `series`. Without calls it is 0, and a latency is missing. */
export function stepsOf(
  { series, start, end, step_hours }: Pick<Costs, 'series' | 'start' | 'end' | 'step_hours'>,
  metric: Metric,
): { at: string; values: (number | null)[] }[] {
  const { valueOf } = metrics[metric]
  const stepMs = step_hours * 3_600_000
  const points = series.map((each) => new Map(each.points.map((point) => [Date.parse(point.at), point])))
  const first = Math.min(...points.flatMap((each) => [...each.keys()]))
  if (!Number.isFinite(first)) return []
  // Aligned with the answer's steps, which begin at midnight or on a Monday.
  const before = Math.ceil((first - Date.parse(start)) / stepMs)
  const steps = []
  for (let at = first - before * stepMs; at < Date.parse(end); at += stepMs) {
    const values = points.map((each) => {
      const point = each.get(at)
      if (valueOf === undefined) return point?.latency_p95_ms ?? null
      return point === undefined ? 0 : valueOf(point)
    })
    steps.push({ at: new Date(at).toISOString(), values })
  }
  return steps
}

/** What the cost leaves out. */
export function describeUnpriced({ calls, priced }: Pick<Sums, 'calls' | 'priced'>): string | undefined {
  const unpriced = calls - priced
  return unpriced === 0 ? undefined : `${formatCount(unpriced)} without a known price`
}
