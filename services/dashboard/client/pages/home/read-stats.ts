import type { Answer } from '../../api/call-api.ts'
import { formatShare, formatShort } from '../../formats/format-number.ts'

export type Stats = Answer<'GET /api/stats'>
type Series = Stats['series'][number]
type AnyPoint = Series['points'][number]
export type CallPoint = Extract<AnyPoint, { calls: number }>
export type ScorePoint = Extract<AnyPoint, { scores: number }>
export type CallTotal = Omit<CallPoint, 'at'>
export type ScoreTotal = Omit<ScorePoint, 'at'>

export interface CallSeries {
  name: string | null
  isOther: boolean
  total: CallTotal
  points: CallPoint[]
}

/** The call series of any answer except that by scorer. */
export function callSeriesOf(stats: Stats): CallSeries[] {
  return stats.series.flatMap(({ name, is_other, total, points }) =>
    'calls' in total
      ? [{ name, isOther: is_other, total, points: points.filter((point) => 'calls' in point) }]
      : [],
  )
}

/** Score totals by scorer, without the remainder beyond the top twenty. */
export function scorerTotalsOf(stats: Stats): (ScoreTotal & { name: string })[] {
  return stats.series.flatMap(({ name, total }) =>
    name !== null && 'scores' in total ? [{ ...total, name }] : [],
  )
}

/** The share of unsafe calls among those with scores. */
export function describeUnsafe({ safe, unsafe, unscored, critical }: CallTotal): {
  share: string
  detail: string
} {
  const scored = safe + unsafe + unscored
  const parts = [
    `${formatShort(unsafe)} of ${formatShort(scored)} scored`,
    `${formatShort(critical)} critical`,
  ]
  return { share: formatShare(unsafe, scored), detail: parts.join(', ') }
}

/** The share of calls that every applicable scorer read without a finding, and what was not read. */
export function describeReadings(total: CallTotal): { share: string; detail: string } {
  const { no_finding, partly_read, not_read, unsafe, scores_decided, scores_applicable } = total
  const parts = [
    ...(partly_read === 0 ? [] : [`${formatShort(partly_read)} partly read`]),
    ...(not_read === 0 ? [] : [`${formatShort(not_read)} not read`]),
    `${formatShare(scores_decided, scores_applicable)} of scores decided`,
  ]
  return {
    share: formatShare(no_finding, no_finding + partly_read + not_read + unsafe),
    detail: parts.join(', '),
  }
}

/** Answers omit empty steps; charts need 0 for them, or a gap where 0 makes no sense. */
export function fillSteps(
  points: readonly CallPoint[],
  { start, end, step_hours }: Stats,
): { at: string; point: CallPoint | undefined }[] {
  const stepMs = step_hours * 3_600_000
  const known = new Map(points.map((point) => [Date.parse(point.at), point]))
  const [first = Date.parse(start)] = known.keys()
  // Aligned with the answer's steps, which begin at midnight or on a Monday.
  const before = Math.ceil((first - Date.parse(start)) / stepMs)
  const steps = []
  for (let at = first - before * stepMs; at < Date.parse(end); at += stepMs) {
    steps.push({ at: new Date(at).toISOString(), point: known.get(at) })
  }
  return steps
}

/** The range of a point's requests, as filters. Steps at the edges extend beyond the range. */
export function rangeOfPoint(
  at: string,
  { start, end, step_hours }: Pick<Stats, 'start' | 'end' | 'step_hours'>,
): { start: string; end: string } {
  const atMs = Date.parse(at)
  const endMs = Math.min(atMs + step_hours * 3_600_000, Date.parse(end))
  return {
    start: new Date(Math.max(atMs, Date.parse(start))).toISOString(),
    end: new Date(endMs).toISOString(),
  }
}

/** The largest groups, and the rest as one: without latency, as percentiles do not add up. */
export function largestOf(series: readonly CallSeries[], count: number): CallSeries[] {
  const rest = series.slice(count)
  if (rest.length < 2) return [...series]
  const total = rest.map((each) => each.total).reduce(addTotals)
  return [...series.slice(0, count), { name: null, isOther: true, total, points: [] }]
}

function addTotals(one: CallTotal, other: CallTotal): CallTotal {
  const names = Object.keys(one) as (keyof CallTotal)[]
  const sums = names.map((name) => [
    name,
    name.startsWith('latency') ? null : Number(one[name]) + Number(other[name]),
  ])
  return Object.fromEntries(sums) as CallTotal
}
