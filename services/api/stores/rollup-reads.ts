import { latencyBucketCount, latencyColumn, latencyPercentile } from '#schemas/latency-buckets.ts'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import type { SourceFilter } from '../http/source-filter.ts'
import { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { hourlyRows, rollupRows, type RollupName } from './rollup-source.ts'

/** Selects the counts of calls in whole hours, from `startMs` and before `endMs`. */
export interface RollupFilters extends SourceFilter {
  startMs: number
  endMs: number
  model?: string | undefined
  provider?: string | undefined
  agent_name?: string | undefined
  /** For scores; absent: the live run. */
  run_id?: string | undefined
}

/** The dimensions of a series, with their columns. */
export const groupings = {
  model: 'model',
  provider: 'provider',
  agent: 'agent_name',
  source: 'source',
  scorer: 'scorer_name',
} as const
export type Grouping = keyof typeof groupings

/** Sums of one group in one step. Postgres returns sums as text. */
export interface StatsRow {
  at: Date
  /** 1 is the largest group; null: the rest. */
  rank: string | null
  name: string | null
  [sum: string]: Date | string | number[] | null
}

/** Groups shown separately; the rest is one. */
const maxGroups = 20

const buckets = Array.from({ length: latencyBucketCount }, (_, bucket) => latencyColumn(bucket))
const callSums = [
  ...[
    'calls',
    'failed',
    'aborted',
    'prompt_tokens',
    'completion_tokens',
    'cached_tokens',
    'reasoning_tokens',
  ],
  ...['priced', 'cost_picodollars', 'verdict_safe', 'verdict_unscored', 'verdict_unsafe'],
  ...['severity_medium', 'severity_high', 'severity_critical', ...buckets],
]
const scoreSums = ['scores', 'valued', 'value_micros']
const labelSums = ['safe', 'unsafe', 'unscored'].map(
  (label) => `coalesce(sum(t.scores) filter (where t.score_label = '${label}'), 0) as ${label}`,
)
const severitySums = ['critical', 'high', 'medium'].map(
  (severity) => `coalesce(sum(t.scores) filter (where t.severity = '${severity}'), 0) as ${severity}`,
)
const sumsOf = (names: readonly string[]) => names.map((name) => `coalesce(sum(t.${name}), 0) as ${name}`)

/** The latency below which `share` of a row's calls lie. */
export function percentileOf(row: Readonly<Record<string, unknown>>, share: number): number | null {
  return latencyPercentile(
    buckets.map((name) => Number(row[name])),
    share,
  )
}

/**
 * Adds the rows of one group, with the sums of `further`, as if one step covered the range: percentiles
 * cannot be added.
 */
export function sumRows(rows: readonly StatsRow[], further: readonly string[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const row of rows) {
    for (const name of [...callSums, ...scoreSums, 'safe', 'unsafe', 'unscored', ...further]) {
      if (row[name] !== undefined) total[name] = (total[name] ?? 0) + Number(row[name])
    }
  }
  return total
}

/**
 * Sums by steps of `stepHours` (days begin at midnight UTC, weeks on Monday) and by group, the largest first.
 */
export async function readSeries(
  database: ProjectDatabase<OneProject>,
  filters: RollupFilters,
  stepHours: number,
  by: Grouping | undefined,
): Promise<StatsRow[]> {
  const ofScores = by === 'scorer'
  const table: RollupName = ofScores ? 'score_rollups' : 'call_rollups'
  const conditions = conditionsOf(database, filters, ofScores)
  const names = ofScores ? [...scoreSums, 'safe', 'unsafe', 'unscored'] : callSums
  const sums = ofScores ? [...sumsOf(scoreSums), ...labelSums] : sumsOf(callSums)
  const step = conditions.bind(`${stepHours} hours`)
  const rows =
    stepHours % 24 === 0
      ? await rollupRows(database, table, filters, conditions)
      : hourlyRows(table, filters, conditions)
  return database.query<StatsRow>(
    `with binned as materialized (
       select date_bin(${step}::interval, t.hour, '2001-01-01Z') as at, ${by === undefined ? 'null::text' : `t.${groupings[by]}`} as name,
         ${by === undefined ? 'false' : 't.is_other'} as is_other, ${sums.join(', ')}
       from ${rows} where :scope(t)${conditions.text} group by 1, 2, 3
     ), ranked as (
       select name, row_number() over (order by sum(${names[0] ?? ''}) desc, name) as rank
       from binned where not is_other group by name
     )
     select b.at, r.rank, r.name, ${names.map((name) => `sum(b.${name}) as ${name}`).join(', ')}
     from binned b left join ranked r on not b.is_other and r.name is not distinct from b.name and r.rank <= ${maxGroups}
     group by 1, 2, 3 order by r.rank nulls last, b.at`,
    conditions.values,
  )
}

const facetColumns = ['source', 'model', 'provider', 'agent_name'] as const
const statusSums = ['status_4xx', 'status_5xx']

interface CallFacets {
  /** The most frequent first. */
  values: Record<(typeof facetColumns)[number], { value: string; count: number }[]>
  /** Over all calls. */
  sumOf: (name: string) => number
}

/**
 * Counts of calls by the values of each dimension, `atMost` values of each, and sums over all. Sources ignore
 * the filter by source, because another one is selected among them.
 */
export async function readCallFacets(
  database: ProjectDatabase<OneProject>,
  filters: RollupFilters,
  atMost: number,
): Promise<CallFacets> {
  const { source, withoutSource, ...others } = filters
  const conditions = conditionsOf(database, others, false)
  const columns = facetColumns.map((name) => `t.${name}`)
  const isAsked = [
    ...(source === undefined ? [] : [`t.source is not distinct from ${conditions.bind(source)}`]),
    ...(withoutSource === undefined ? [] : [`t.source is distinct from ${conditions.bind(withoutSource)}`]),
  ]
  const sums = [...callSums.filter((name) => !buckets.includes(name)), ...statusSums]
  const rows = await database.query<Record<string, string | null>>(
    `select * from (
       select ${columns.join(', ')}, grouping(${columns.join(', ')}) as of, ${sumsOf(sums).join(', ')},
         t.is_asked, row_number() over (partition by t.is_asked, grouping(${columns.join(', ')}) order by sum(t.calls) desc) as rank
       from (
         select t.*, ${isAsked.join(' and ') || 'true'} as is_asked
         from ${await rollupRows(database, 'call_rollups', filters, conditions)} where :scope(t)${conditions.text}
       ) t group by t.is_asked, grouping sets ((), ${columns.map((column) => `(${column})`).join(', ')})
     ) counted where rank <= ${conditions.bind(atMost)} and (is_asked or source is not null) order by calls desc, rank`,
    conditions.values,
  )
  // grouping() has a bit for each column outside the row's grouping, the first column's highest.
  const rowsOf = (mask: number) => rows.filter((row) => Number(row['of']) === mask)
  const values = facetColumns.map((name, index) => [
    name,
    rowsOf(0b1111 ^ (0b1000 >> index)).flatMap(({ [name]: value, calls }) =>
      typeof value === 'string' ? [{ value, count: Number(calls) }] : [],
    ),
  ])
  const [all] = rowsOf(0b1111)
  return {
    values: Object.fromEntries(values) as CallFacets['values'],
    sumOf: (name) => Number(all?.[name] ?? 0),
  }
}

/** Scores of one run by scorer. A null name is the overflow group. */
export async function readScorers(
  database: ProjectDatabase<OneProject>,
  filters: Pick<RollupFilters, 'startMs' | 'endMs' | 'run_id' | keyof SourceFilter>,
): Promise<Record<string, string | null>[]> {
  const conditions = conditionsOf(database, filters, true)
  return database.query<Record<string, string | null>>(
    `select t.scorer_name, ${[...sumsOf(scoreSums), ...labelSums, ...severitySums].join(', ')}
     from ${await rollupRows(database, 'score_rollups', filters, conditions)} where :scope(t)${conditions.text} group by 1 order by 1 nulls last`,
    conditions.values,
  )
}

/** Conditions on the rows `t` of a roll-up, besides their project and hours. */
export function conditionsOf(
  { scope }: ProjectDatabase<OneProject>,
  filters: RollupFilters,
  ofScores: boolean,
): Conditions {
  const conditions = new Conditions()
  conditions.equal('t.source', filters.source)
  conditions.differ('t.source', filters.withoutSource)
  if (ofScores) conditions.equal('t.run_id', idToUuid(filters.run_id ?? liveRunId(scope.projectId)))
  else
    for (const name of ['model', 'provider', 'agent_name'] as const)
      conditions.equal(`t.${name}`, filters[name])
  return conditions
}
