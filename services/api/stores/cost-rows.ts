import { longestLabelValue, labelColumns, labelOf } from '#schemas/call-labels.ts'
import type { SourceFilter } from '../http/source-filter.ts'
import type { Conditions } from './conditions.ts'
import { plainDimensions, type Dimension } from './cost-dimensions.ts'
import { bucketSql, callSum, costSums, rollupSum, type SumSql } from './cost-sums.ts'
import type { ProjectDatabase } from './project-database.ts'
import { hourlyRows, rollupRows, type HourRange, type RollupName } from './rollup-source.ts'

/** Calls that are looked at for a grouping that no roll-up has. */
const maxScanned = 100_000

export interface CountedRange extends HourRange, SourceFilter {
  stepHours: number
  /** Only this end user's calls: no roll-up has them by anything else. */
  user_id?: string | undefined
}

/** What costs are summed from. */
export interface CostRows {
  /**
   * SQL of rows `(at, name, is_other)` with what `sum` adds up: the calls by step and by a value for each
   * dimension.
   */
  rows: string
  /** Whether `rows` is costly to read: it is then read once. */
  isCostly: boolean
  /** SQL of the same rows `(at)` of all calls. Those that `rows` lacks have no value; undefined: none. */
  every: string | undefined
  sum: SumSql
}

/** By a dimension that a roll-up has. */
export async function countedCosts(
  database: ProjectDatabase,
  dimension: Dimension,
  range: CountedRange,
  conditions: Conditions,
): Promise<CostRows> {
  const select = async (rollup: RollupName, columns: readonly string[], where = '') => {
    const rows =
      range.stepHours % 24 === 0
        ? await rollupRows(database, rollup, range, conditions)
        : hourlyRows(rollup, range, conditions)
    const at = `${atSql('t.hour', range, conditions)} as at`
    return `select ${[at, ...columns, ...costSums.map((sum) => `t.${sum}`)].join(', ')}
      from ${rows} where :scope(t)${sourceSql(range, conditions)}${where}`
  }
  const naming = (name: string, isOther = 't.is_other') => [
    `array[${name}]::text[] as name`,
    `${isOther} as is_other`,
  ]
  if ('metadataKey' in dimension || dimension.column === 'user') {
    const [rollup, name, where] =
      'metadataKey' in dimension
        ? (['label_rollups', ...labelValue(dimension.metadataKey, conditions)] as const)
        : (['user_rollups', 't.user_id', ''] as const)
    return {
      rows: await select(rollup, naming(name), where),
      every: await select('call_rollups', []),
      isCostly: false,
      sum: rollupSum,
    }
  }
  const { column } = dimension
  // Rows beyond a roll-up's bound keep these.
  const isOther = column === 'source' || column === 'project' ? 'false' : 't.is_other'
  const rows = await select('call_rollups', naming(`t.${plainDimensions[column]}`, isOther))
  return { rows, every: undefined, isCostly: false, sum: rollupSum }
}

/** SQL of the key's value among a row's labels, and the condition that there is one, or may be. */
function labelValue(key: string, conditions: Conditions): [name: string, where: string] {
  const prefix = `${conditions.bind(labelOf(key, ''))}::text`
  const whens = labelColumns.map(
    (column) => `when starts_with(t.${column}, ${prefix}) then substr(t.${column}, length(${prefix}) + 1)`,
  )
  const any = labelColumns.map((column) => `starts_with(t.${column}, ${prefix})`).join(' or ')
  return [`case ${whens.join(' ')} end`, ` and (t.is_other or ${any})`]
}

/** By several dimensions or any metadata key, from the calls themselves. `range` has at most `maxScanned`. */
export function scannedCosts(
  dimensions: readonly Dimension[],
  range: CountedRange,
  conditions: Conditions,
): CostRows {
  const names = dimensions.map((dimension) =>
    'metadataKey' in dimension
      ? metadataValue(conditions.bind(dimension.metadataKey))
      : `r.${plainDimensions[dimension.column]}::text`,
  )
  const within = conditions.daysWithin(range.startMs, range.endMs)
  // Both sides are read in bulk and joined by hashes: looking up 100,000 verdicts takes 3 s.
  const rows = `select ${atSql('r.created_at', range, conditions)} as at, array[${names.join(', ')}]::text[] as name, false as is_other,
      (r.error is not null or r.status_code >= 400) as has_failed,
      r.prompt_tokens, r.completion_tokens, r.cached_tokens, r.reasoning_tokens, r.cost_usd, v.worst_label, ${bucketSql('r.latency_ms')} as bucket
    from llm_requests r left join request_verdicts v on v.project_id = r.project_id and v.request_id = r.id
      and v.request_created_at = r.created_at${within('v.request_created_at')}
    where :scope(r)${within('r.created_at')}${ofCalls(range, conditions)}`
  return { rows, every: undefined, isCostly: true, sum: callSum }
}

/** Texts, numbers and booleans, as labels are made of them. */
const metadataValue = (key: string) =>
  `case when jsonb_typeof(r.metadata -> ${key}::text) in ('string', 'number', 'boolean') then left(r.metadata ->> ${key}::text, ${longestLabelValue}) end`

/**
 * Where the newest `maxScanned` calls of the range begin, in Unix milliseconds; undefined: it has no more.
 */
export async function findScanStart(
  database: ProjectDatabase,
  range: CountedRange,
  conditions: Conditions,
): Promise<number | undefined> {
  conditions.within('r.created_at', range.startMs, range.endMs)
  const [row] = await database.query<{ created_at: Date }>(
    `select r.created_at from llm_requests r where :scope(r)${conditions.text}${ofCalls(range, conditions)}
     order by r.created_at desc offset ${maxScanned} limit 1`,
    conditions.values,
  )
  // Behind that call, so that no more are left.
  return row === undefined ? undefined : row.created_at.getTime() + 1
}

/** The start of the step that holds a time; days begin at midnight UTC, weeks on Monday. */
function atSql(column: string, { stepHours }: CountedRange, conditions: Conditions): string {
  return `date_bin(${conditions.bind(`${stepHours} hours`)}::interval, ${column}, '2001-01-01Z')`
}

/** Conditions on the calls `r`. */
function ofCalls(range: CountedRange, conditions: Conditions): string {
  const user = range.user_id === undefined ? '' : ` and r.user_id = ${conditions.bind(range.user_id)}`
  return user + sourceSql(range, conditions, 'r')
}

function sourceSql({ source, withoutSource }: SourceFilter, conditions: Conditions, alias = 't'): string {
  if (source !== undefined) return ` and ${alias}.source = ${conditions.bind(source)}`
  if (withoutSource === undefined) return ''
  return ` and ${alias}.source is distinct from ${conditions.bind(withoutSource)}`
}
