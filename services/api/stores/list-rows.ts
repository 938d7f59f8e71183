import type { QueryResultRow } from 'pg'
import { idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { Counted, Paging } from '../http/paging.ts'
import type { Conditions } from './conditions.ts'
import type { ProjectDatabase } from './project-database.ts'

/** Counting stops here: the exact number of a million rows is not worth reading a million rows. */
const countBound = 10_000

interface ListStatement {
  /** What is read of each row. */
  columns: string
  /** Tables and joins; the first one has the alias `alias`. */
  from: string
  alias: string
  /** Newest first by these. */
  timeColumn: string
  idColumn: string
  /** SQL for the time of the row whose identifier the placeholder holds. Absent: the time in the identifier is the row's. */
  timeOf?: (idPlaceholder: string) => string
  conditions: Conditions
}

interface Page<R> {
  rows: R[]
  counted: Counted
}

/** One page of rows, newest first and one more than asked for, and how many there are up to a bound. */
export async function listRows<R extends QueryResultRow>(
  database: ProjectDatabase,
  paging: Paging,
  { columns, from, alias, timeColumn, idColumn, timeOf, conditions }: ListStatement,
): Promise<Page<R>> {
  const page = conditions.copy()
  if (paging.after !== null) {
    const id = `${page.bind(idToUuid(paging.after))}::uuid`
    const time = timeOf === undefined ? page.bind(new Date(idTimeMs(paging.after))) : timeOf(id)
    page.add(`(${timeColumn}, ${idColumn}) < (${time}, ${id})`)
  }
  const limit = page.bind(paging.limit + 1)
  const offset = page.bind(paging.offset)
  const [rows, count] = await Promise.all([
    database.query<R>(
      `select ${columns} from ${from} where :scope(${alias})${page.text}
       order by ${timeColumn} desc, ${idColumn} desc limit ${limit} offset ${offset}`,
      page.values,
    ),
    database.query<{ total: number }>(
      `select count(*)::integer as total from (
         select from ${from} where :scope(${alias})${conditions.text} limit ${countBound + 1}) counted`,
      conditions.values,
    ),
  ])
  const total = count[0]?.total ?? 0
  return { rows, counted: { total: Math.min(total, countBound), isExact: total <= countBound } }
}
