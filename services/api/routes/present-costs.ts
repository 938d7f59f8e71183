import { latencyPercentile } from '#schemas/latency-buckets.ts'
import { idFromUuid } from '#schemas/ids.ts'
import { writeCsvLine } from '../http/write-csv.ts'
import type { Dimension } from '../stores/cost-dimensions.ts'
import type { CostRow, Costs } from '../stores/cost-store.ts'
import { buckets, costSums } from '../stores/cost-sums.ts'
import { csvBefore, csvSums, type CostAnswer, type CostGroup } from './cost-schemas.ts'

type Summed = Readonly<Record<string, unknown>>

/** Rows as groups with their points. */
export function presentCosts(
  { current, before }: Pick<Costs, 'current' | 'before'>,
  dimensions: readonly Dimension[],
): Pick<CostAnswer, 'total' | 'previous' | 'groups' | 'series'> {
  const groups = current.filter(({ at }) => at === null)
  const points = current.filter(({ at }) => at !== null)
  const previous = new Map(before?.map((row) => [row.rank, presentSums(row)]))
  const nameOf = ({ rank, name }: CostRow) => ({
    values: rank === null ? [] : valuesOf(name ?? [], dimensions),
    is_other: rank === null,
  })
  return {
    total: withLatency(addUp(groups)),
    previous: before === undefined ? null : presentSums(addUp(before)),
    groups: groups.map((row) => ({
      ...nameOf(row),
      ...withLatency(row),
      previous: before === undefined ? null : (previous.get(row.rank) ?? presentSums({})),
    })),
    series: [...Map.groupBy(points, ({ rank }) => rank).values()].map((rows) => ({
      ...nameOf(rows[0] as CostRow),
      points: rows.map((row) => ({ at: (row.at as Date).toISOString(), ...withLatency(row) })),
    })),
  }
}

function valuesOf(name: readonly (string | null)[], dimensions: readonly Dimension[]): (string | null)[] {
  return name.map((value, place) => {
    const isProject = dimensions[place]?.name === 'project' && value !== null
    return isProject ? idFromUuid('project', value) : value
  })
}

function addUp(rows: readonly CostRow[]): Record<string, number> {
  return Object.fromEntries(
    costSums.map((name) => [name, rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)]),
  )
}

function presentSums(row: Summed) {
  const sum = (name: string) => Number(row[name] ?? 0)
  const tokens = {
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    cached_tokens: sum('cached_tokens'),
    reasoning_tokens: sum('reasoning_tokens'),
  }
  return {
    calls: sum('calls'),
    failed: sum('failed'),
    unsafe: sum('verdict_unsafe'),
    tokens: Object.values(tokens).reduce((all, each) => all + each, 0),
    ...tokens,
    priced: sum('priced'),
    cost_usd: sum('cost_picodollars') / 1e12,
  }
}

function withLatency(row: Summed) {
  const counts = buckets.map((name) => Number(row[name] ?? 0))
  return {
    ...presentSums(row),
    latency_p50_ms: latencyPercentile(counts, 0.5),
    latency_p95_ms: latencyPercentile(counts, 0.95),
  }
}

/** One line a group, and one of all; the first says what each column is. */
export function costsAsCsv({ by, groups, total, previous }: CostAnswer): string {
  const line = (values: readonly (string | null)[], row: Omit<CostGroup, 'values' | 'is_other'>) =>
    writeCsvLine([
      ...values,
      ...csvSums.map((name) => row[name as keyof typeof row]),
      ...csvBefore.map((name) => row.previous?.[name]),
    ])
  const label = (text: string) => by.map((_name, place) => (place === 0 ? text : null))
  return [
    writeCsvLine([...by, ...csvSums, ...csvBefore.map((name) => `previous_${name}`)]),
    ...groups.map((group) => line(group.is_other ? label('(other)') : group.values, group)),
    line(label('(total)'), { ...total, previous }),
  ].join('')
}
