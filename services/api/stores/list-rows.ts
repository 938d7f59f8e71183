import type { QueryResultRow } from 'pg'
import { idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { everyDay, type Conditions, type WithinDays } from './conditions.ts'
import type { ProjectDatabase } from './project-database.ts'
import type { HourRange } from './rollup-source.ts'

/** Rows that a count scans when most may not pass. Each lookup in the other table takes 30 µs. */
const scanBound = 2_000
/** Counting stops here: an exact count of a million rows would read a million rows. */
const countBound = 10_000
/**
 * How far back a list looks first. Planning costs 45 µs per partition and table (2 cores, 20 days), which
 * after a year would be most of a page's time. A page of a project in use lies within two days.
 */
const recentMs = 2 * 86_400_000

export interface ListStatement {
  /** The columns of a row, including its time and id. */
  columns: string
  /** Tables and joins; the first has the alias `alias`. */
  from: string
  alias: string
  /** The column of the order, newest first. */
  timeColumn: string
  idColumn: string
  /** SQL for the time of the row with the id in the placeholder. Absent: the time in the id. */
  timeOf?: (idPlaceholder: string) => string
  /** Orders by the id alone, which begins with the row's time: the same order, by the primary key. */
  byIdAlone?: boolean
  conditions: Conditions
  /**
   * Set when conditions concern other tables: the listed table's own conditions as text, and the joins for
   * the others. The count then scans a bounded number of rows, because few may pass.
   */
  scanned?: { own: string; joins: (within: WithinDays) => string }
  /** Joins for the rows of the page alone, which has the alias `page`; and its columns for time and id. */
  joined?: { columns: string; joins: (within: WithinDays) => string; time: string; id: string }
  /** The columns to return, unordered; absent: all, newest first. */
  picked?: string
  /** For tables partitioned by day on `timeColumn`. `ranges`: the only hours that may have rows. */
  days?: {
    nowMs: number
    startMs: number | undefined
    endMs: number | undefined
    ranges?: readonly HourRange[] | undefined
  }
}

interface Page<R> {
  rows: R[]
  counted: Counted
}

/**
 * One page of rows, newest first and one more than requested, and their bounded count. The page is found
 * first and joined afterwards: otherwise the planner sometimes reads whole days of both sides.
 */
export async function listRows<R extends QueryResultRow>(
  database: ProjectDatabase,
  paging: Paging,
  statement: ListStatement,
): Promise<Page<R>> {
  if (isEmpty(statement)) return { rows: [], counted: { total: 0, isExact: true } }
  const recent = await readRecentPage<R>(database, paging, statement)
  if (recent !== undefined) {
    const counted = await countNewestFirst(database, statement)
    return { rows: recent, counted: withRead(counted, recent.length, paging) }
  }
  const [rows, counted] = await Promise.all([
    readPageFrom<R>(database, paging, statement, undefined),
    countRows(database, statement, undefined),
  ])
  return { rows, counted: withRead(counted, rows.length, paging) }
}

/** Corrects a bounded count: there are at least as many rows as were read, and none after a last page. */
export function withRead(counted: Counted, rows: number, { after, offset, limit }: Paging): Counted {
  if (counted.isExact || (rows === 0 && offset > 0)) return counted
  const total = offset + rows
  // The number of rows before a cursor is unknown.
  const isLast = after === null && rows <= limit
  return isLast ? { total, isExact: true } : { total: Math.max(counted.total, total), isExact: false }
}

/** The rows of one page, newest first and one more than requested. */
export async function readPage<R extends QueryResultRow>(
  database: ProjectDatabase,
  paging: Paging,
  statement: ListStatement,
): Promise<R[]> {
  if (isEmpty(statement)) return []
  return (
    (await readRecentPage<R>(database, paging, statement)) ??
    readPageFrom<R>(database, paging, statement, undefined)
  )
}

const isEmpty = ({ days }: ListStatement) => days?.ranges?.length === 0

/** The page, if it lies within the last two days; otherwise undefined. */
async function readRecentPage<R extends QueryResultRow>(
  database: ProjectDatabase,
  paging: Paging,
  statement: ListStatement,
): Promise<R[] | undefined> {
  const sinceMs = recentSinceMs(statement, paging.after)
  if (sinceMs === undefined) return undefined
  const recent = await readPageFrom<R>(database, paging, statement, sinceMs)
  // A full page has nothing older.
  return recent.length > paging.limit ? recent : undefined
}

/**
 * The start of the list's last two days, or of those before `after`. Undefined: the list has nothing older,
 * or its hours are known.
 */
function recentSinceMs({ days }: ListStatement, after: string | null): number | undefined {
  if (days === undefined || days.ranges !== undefined) return undefined
  const { nowMs, startMs = 0, endMs = nowMs } = days
  const newestMs = after === null ? Math.min(endMs, nowMs) : idTimeMs(after)
  return startMs < newestMs - recentMs ? newestMs - recentMs : undefined
}

function readPageFrom<R extends QueryResultRow>(
  database: ProjectDatabase,
  paging: Paging,
  statement: ListStatement,
  sinceMs: number | undefined,
): Promise<R[]> {
  const { timeColumn, idColumn, timeOf, byIdAlone = false, joined } = statement
  const everyProject = database.scope.projectId === null
  const conditions = statement.conditions.copy()
  conditions.within(timeColumn, sinceMs, undefined)
  if (statement.days?.ranges !== undefined)
    conditions.add(conditions.withinAny(timeColumn, statement.days.ranges))
  if (paging.after !== null) {
    const id = `${conditions.bind(idToUuid(paging.after))}::uuid`
    const idTime = `${conditions.bind(new Date(idTimeMs(paging.after)))}::timestamptz`
    // A deleted row leaves its id's time, which is close enough.
    const time = timeOf === undefined ? idTime : `coalesce(${timeOf(id)}, ${idTime})`
    // Ids are unique per project only: selectPage reads each project `p` separately.
    const ofProject = everyProject && joined !== undefined ? paging.afterProject : undefined
    const [column, place] =
      ofProject === undefined
        ? ['', '']
        : [', p.project_id', `, ${conditions.bind(idToUuid(ofProject))}::uuid`]
    // The second implies the first, but only the first lets Postgres skip partitions.
    conditions.add(
      `${timeColumn} <= ${time} and (${timeColumn}, ${idColumn}${column}) < (${time}, ${id}${place})`,
    )
    if (byIdAlone) conditions.add(`${idColumn} ${ofProject === undefined ? '<' : '<='} ${id}`)
  }
  const within = daysOf(statement.days, sinceMs, paging.after, conditions)
  const page = selectPage(statement, conditions, {
    within,
    limit: `${conditions.bind(paging.limit + 1)}::bigint`,
    offset: `${conditions.bind(paging.offset)}::bigint`,
    everyProject,
  })
  const text =
    joined === undefined
      ? page
      : `select ${joined.columns} from (${page}) page ${joined.joins(within)}
         order by page.${joined.time} desc, page.${joined.id} desc${everyProject ? ', page.project_id desc' : ''}`
  const { picked } = statement
  return database.query<R>(
    picked === undefined ? text : `select ${picked} from (${text}) whole`,
    conditions.values,
  )
}

/** The days of the rows, from `sinceMs` and after `after`. */
function daysOf(
  days: ListStatement['days'],
  sinceMs: number | undefined,
  after: string | null,
  conditions: Conditions,
): WithinDays {
  if (days === undefined) return everyDay
  const untilMs = Math.min(days.endMs ?? Infinity, after === null ? Infinity : idTimeMs(after) + 1)
  return conditions.daysWithin(sinceMs ?? days.startMs, untilMs === Infinity ? undefined : untilMs)
}

interface PageParts {
  within: WithinDays
  limit: string
  offset: string
  everyProject: boolean
}

function selectPage(
  { columns, from: table, alias, timeColumn, idColumn, byIdAlone = false, joined, scanned }: ListStatement,
  conditions: Conditions,
  { within, limit, offset, everyProject }: PageParts,
): string {
  const from = `${table} ${scanned?.joins(within) ?? ''}`
  const order = `order by ${byIdAlone ? '' : `${timeColumn} desc, `}${idColumn} desc`
  if (!everyProject || joined === undefined) {
    return `select ${columns} from ${from} where :scope(${alias})${conditions.text} ${order} limit ${limit} offset ${offset}`
  }
  // The newest of each project, then the newest of those: indexes are by project, and without one the newest
  // day would be read whole.
  return `select k.* from (select id as project_id from projects) p cross join lateral (
      select ${columns} from ${from} where ${alias}.project_id = p.project_id${conditions.text} ${order} limit ${limit} + ${offset}
    ) k where :scope(p) order by k.${joined.time} desc, k.${joined.id} desc, k.project_id desc limit ${limit} offset ${offset}`
}

/**
 * Counts the last two days first. If they reach the bound, older days do not matter: three years would lock
 * 16,000 relations.
 */
async function countNewestFirst(database: ProjectDatabase, statement: ListStatement): Promise<Counted> {
  const sinceMs = recentSinceMs(statement, null)
  const recent = sinceMs === undefined ? undefined : await countRows(database, statement, sinceMs)
  return recent?.isExact === false ? recent : countRows(database, statement, undefined)
}

async function countRows(
  database: ProjectDatabase,
  { from, alias, timeColumn, idColumn, conditions: all, scanned, days }: ListStatement,
  sinceMs: number | undefined,
): Promise<Counted> {
  const conditions = all.copy()
  const since = sinceMs === undefined ? '' : ` and ${timeColumn} >= ${conditions.bind(new Date(sinceMs))}`
  const among = days?.ranges === undefined ? '' : ` and ${conditions.withinAny(timeColumn, days.ranges)}`
  if (scanned === undefined) {
    const [row] = await database.query<{ total: number }>(
      `select count(*)::integer as total from (
         select from ${from} where :scope(${alias})${conditions.text}${since}${among} limit ${countBound + 1}) counted`,
      conditions.values,
    )
    const total = row?.total ?? 0
    return { total: Math.min(total, countBound), isExact: total <= countBound }
  }
  const joins = scanned.joins(daysOf(days, sinceMs, null, conditions))
  const [row] = await database.query<{ total: number; looked: number }>(
    `with ${alias} as materialized (
       select ${alias}.* from ${from} where :scope(${alias})${scanned.own}${since}${among} order by ${timeColumn} desc, ${idColumn} desc limit ${scanBound + 1}
     ) select count(*) filter (where passes)::integer as total, count(*)::integer as looked
     from (select ${conditions.text.replace(scanned.own, '').replace(/^ and /, '')} as passes from ${alias} ${joins}) judged`,
    conditions.values,
  )
  return { total: row?.total ?? 0, isExact: (row?.looked ?? 0) <= scanBound }
}
