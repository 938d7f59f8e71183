import { Conditions } from './conditions.ts'
import type { Dimension } from './cost-dimensions.ts'
import { countedCosts, findScanStart, scannedCosts, type CountedRange } from './cost-rows.ts'
import { costOrders, costSums, plainSums, type CostOrder } from './cost-sums.ts'
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
  const counted = await findCounted(database, dimensions)
  if (counted !== undefined) {
    const sqlOf = (of: CountedRange, conditions: Conditions) =>
      countedCosts(database, counted.dimension, of, conditions)
    return {
      ...(await readBoth(database, query, sqlOf)),
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
  const sqlOf = (of: CountedRange, conditions: Conditions) =>
    Promise.resolve(scannedCosts(dimensions, of, conditions))
  return { ...(await readBoth(database, scanned, sqlOf)), countedFromMs, namedFrom: undefined }
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

type SqlOf = (range: CountedRange, conditions: Conditions) => Promise<string>

async function readBoth(
  database: ProjectDatabase,
  { range, before, order }: CostQuery,
  sqlOf: SqlOf,
): Promise<Pick<Costs, 'current' | 'before'>> {
  const current = await readRanked(database, range, order, sqlOf)
  if (before === undefined) return { current, before: undefined }
  const names = current.flatMap(({ at, rank, name }) => (at === null && rank !== null ? [name] : []))
  return { current, before: await readNamed(database, before, names, sqlOf) }
}

const sumsOf = (names: readonly string[]) => names.map((sum) => `sum(${sum}) as ${sum}`).join(', ')

async function readRanked(
  database: ProjectDatabase,
  range: CountedRange,
  order: CostOrder,
  sqlOf: SqlOf,
): Promise<CostRow[]> {
  const conditions = new Conditions()
  const sql = await sqlOf(range, conditions)
  const grouped = (at: string, places: number) =>
    `select ${at} as at, r.rank, r.name, ${sumsOf(costSums)} from binned b left join ranked r
       on not b.is_other and r.name = b.name and r.rank <= ${places} group by 1, 2, 3`
  return database.query<CostRow>(
    `with binned as materialized (${sql}), ranked as materialized (
       select name, row_number() over (order by ${costOrders[order]} desc, sum(calls) desc, name) as rank
       from binned where not is_other group by name having sum(calls) > 0 order by rank limit ${maxGroups}
     ) select * from (${grouped('null::timestamptz', maxGroups)} union all ${grouped('b.at', maxSeries)}) counted
     where calls > 0 order by rank nulls last, at nulls first`,
    conditions.values,
  )
}

async function readNamed(
  database: ProjectDatabase,
  range: CountedRange,
  names: readonly CostRow['name'][],
  sqlOf: SqlOf,
): Promise<CostRow[]> {
  const conditions = new Conditions()
  // One step: the whole range.
  const sql = await sqlOf(range, conditions)
  const places = conditions.bind(JSON.stringify(names))
  return database.query<CostRow>(
    `select null::timestamptz as at, n.rank, n.name, ${sumsOf(plainSums)} from (${sql}) b left join (
       select array(select jsonb_array_elements_text(value)) as name, rank from jsonb_array_elements(${places}::jsonb) with ordinality as n (value, rank)
     ) n on not b.is_other and n.name = b.name group by 1, 2, 3`,
    conditions.values,
  )
}
