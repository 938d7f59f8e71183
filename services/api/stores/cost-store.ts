import { Conditions } from './conditions.ts'
import type { Dimension } from './cost-dimensions.ts'
import { countedCosts, findScanStart, scannedCosts, type CostRows, type CountedRange } from './cost-rows.ts'
import { costOrders, costSums, plainSums, rollupSum, type CostOrder, type SumSql } from './cost-sums.ts'
import { readMetadataKeys } from './metadata-key-store.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

/** Groups with a row of their own, and those with points; the rest is one. */
const maxGroups = 300
const maxSeries = 8

/** Sums of one group, in one step or (`at` null) in all. Postgres returns sums as text. */
export interface CostRow {
  at: Date | null
  /** 1 is the largest group; null: the rest. */
  rank: string | null
  /** A value for each dimension; null: calls without one. */
  name: (string | null)[] | null
  [sum: string]: Date | string | (string | null)[] | null
}

export interface CostQuery {
  dimensions: readonly Dimension[]
  order: CostOrder
  range: CountedRange
  /** The period to compare with; undefined: none. */
  before: CountedRange | undefined
}

export interface Costs {
  /** By group, the largest first, and by group and step for the first of them. */
  current: CostRow[]
  /** By the groups of `current`, without latencies. Undefined: not compared. */
  before: CostRow[] | undefined
  /** Unix milliseconds. Set: only calls from then on were counted. */
  countedFromMs: number | undefined
  /** ISO 8601, of a declared key: earlier calls have no value. */
  namedFrom: string | undefined
}

/**
 * Costs by group: from roll-ups where one has the dimension, otherwise of the newest `maxScanned` calls,
 * which are compared with nothing unless both periods have fewer.
 */
export async function readCosts(database: ProjectDatabase, query: CostQuery): Promise<Costs> {
  const { dimensions, range, before } = query
  const counted = range.user_id === undefined ? await findCounted(database, dimensions) : undefined
  if (counted !== undefined) {
    const rowsOf = (of: CountedRange, conditions: Conditions) =>
      countedCosts(database, counted.dimension, of, conditions)
    return {
      ...(await readBoth(database, query, rowsOf)),
      countedFromMs: undefined,
      namedFrom: counted.namedFrom,
    }
  }
  const startOf = (of: CountedRange) => findScanStart(database, of, new Conditions())
  const [countedFromMs, beforeFromMs] = await Promise.all([
    startOf(range),
    before === undefined ? undefined : startOf(before),
  ])
  const isWhole = countedFromMs === undefined && beforeFromMs === undefined
  const scanned = {
    ...query,
    range: { ...range, startMs: countedFromMs ?? range.startMs },
    before: isWhole ? before : undefined,
  }
  const rowsOf = (of: CountedRange, conditions: Conditions) =>
    Promise.resolve(scannedCosts(dimensions, of, conditions))
  return { ...(await readBoth(database, scanned, rowsOf)), countedFromMs, namedFrom: undefined }
}

/** The only dimension, if a roll-up counts by it. */
async function findCounted(
  database: ProjectDatabase,
  [dimension, second]: readonly Dimension[],
): Promise<{ dimension: Dimension; namedFrom: string | undefined } | undefined> {
  if (dimension === undefined || second !== undefined) return undefined
  if (!('metadataKey' in dimension)) return { dimension, namedFrom: undefined }
  const keys = (await readMetadataKeys(database as ProjectDatabase<OneProject>)) ?? []
  const key = keys.find(({ name }) => name === dimension.metadataKey)
  return key === undefined ? undefined : { dimension, namedFrom: key.counted_from }
}

type RowsOf = (range: CountedRange, conditions: Conditions) => Promise<CostRows>

async function readBoth(
  database: ProjectDatabase,
  { range, before, order }: CostQuery,
  rowsOf: RowsOf,
): Promise<Pick<Costs, 'current' | 'before'>> {
  const current = await readRanked(database, range, order, rowsOf)
  if (before === undefined) return { current, before: undefined }
  const names = current.flatMap(({ at, rank, name }) => (at === null && rank !== null ? [name] : []))
  return { current, before: await readNamed(database, before, names, rowsOf) }
}

const listOf = (sums: readonly string[], sum: SumSql) =>
  sums.map((name) => `${sum(name)} as ${name}`).join(', ')

/** By a value for each dimension, of calls without any. */
const noName = 'array[null]::text[]'

async function readRanked(
  database: ProjectDatabase,
  range: CountedRange,
  order: CostOrder,
  rowsOf: RowsOf,
): Promise<CostRow[]> {
  const conditions = new Conditions()
  const counted = await rowsOf(range, conditions)
  const grouped = (at: string, rank: string) =>
    `select ${at} as at, ${rank} as rank, ${listOf(costSums, rollupSum)} from binned t group by 1, 2`
  return database.query<CostRow>(
    `with ${rowsSql(counted)}${rankedSql(counted, order)}, ${binnedSql(counted, costSums)}
     select s.*, r.name from (
       ${grouped('null::timestamptz', 't.rank')}
       union all ${grouped('t.at', `case when t.rank <= ${maxSeries} then t.rank end`)}
     ) s left join ranked r using (rank) where s.calls > 0 order by rank nulls last, at nulls first`,
    conditions.values,
  )
}

async function readNamed(
  database: ProjectDatabase,
  range: CountedRange,
  names: readonly CostRow['name'][],
  rowsOf: RowsOf,
): Promise<CostRow[]> {
  const conditions = new Conditions()
  const counted = await rowsOf(range, conditions)
  const places = conditions.bind(JSON.stringify(names))
  return database.query<CostRow>(
    `with ${rowsSql(counted)}ranked as materialized (
       select array(select jsonb_array_elements_text(value)) as name, rank from jsonb_array_elements(${places}::jsonb) with ordinality as n (value, rank)
     ), ${binnedSql(counted, plainSums)}
     select null::timestamptz as at, t.rank, null as name, ${listOf(plainSums, rollupSum)} from binned t group by 2`,
    conditions.values,
  )
}

/** SQL of the rows to be read once, if they are. */
const rowsSql = ({ rows, isCostly }: CostRows) => (isCostly ? `counted as materialized (${rows}), ` : '')
const fromSql = ({ rows, isCostly }: CostRows) => (isCostly ? 'counted' : `(${rows})`)

/** SQL of `ranked (name, rank)`: the largest groups. Only what orders them is summed for every name. */
function rankedSql(counted: CostRows, order: CostOrder): string {
  const { every, sum } = counted
  const sums = `${costOrders[order].map(sum).join(' + ')} as ordered, ${sum('calls')} as calls`
  const unnamed =
    every === undefined
      ? ''
      : `union all select ${noName}, e.ordered - coalesce(n.ordered, 0), e.calls - coalesce(n.calls, 0)
         from (select ${sums} from (${every}) t) e, (select sum(ordered) as ordered, sum(calls) as calls from named) n`
  return `named as materialized (
      select t.name, t.is_other, ${sums} from ${fromSql(counted)} t group by 1, 2
    ), ranked as materialized (
      select name, row_number() over (order by ordered desc, calls desc, name) as rank
      from (select name, ordered, calls from named where not is_other ${unnamed}) sized
      where calls > 0 order by rank limit ${maxGroups}
    )`
}

/** SQL of `binned (at, rank, …sums)`, of the groups in `ranked`, and of the rest: its rank is null. */
function binnedSql(counted: CostRows, sums: readonly string[]): string {
  const { every, sum } = counted
  const found = `select t.at, r.rank, ${listOf(sums, sum)}
    from ${fromSql(counted)} t left join ranked r on not t.is_other and r.name = t.name group by 1, 2`
  if (every === undefined) return `binned as materialized (${found})`
  const left = sums.map((name) => `e.${name} - coalesce(f.${name}, 0) as ${name}`)
  return `found as materialized (${found}), binned as materialized (
      select * from found union all
      select e.at, (select rank from ranked where name = ${noName}), ${left.join(', ')}
      from (select t.at, ${listOf(sums, sum)} from (${every}) t group by 1) e
      left join (select t.at, ${listOf(sums, rollupSum)} from found t group by 1) f using (at)
    )`
}
