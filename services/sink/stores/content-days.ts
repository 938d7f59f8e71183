import type { ClientBase } from 'pg'
import { dayOf } from './day-partitions.ts'
import type { contentTables } from './retention-store.ts'

/**
 * Filters `rows` to days for which `table` still has a partition. Content is dropped after 90 days, but calls
 * may be scored, or even arrive, later.
 */
export async function ofKeptDays<Row>(
  client: ClientBase,
  table: (typeof contentTables)[number],
  rows: readonly Row[],
  timeMsOf: (row: Row) => number,
): Promise<Row[]> {
  if (rows.length === 0) return []
  const { rows: found } = await client.query<{ day: string }>(
    `select day from unnest($1::text[]) as days (day) where to_regclass($2 || '_' || replace(day, '-', '')) is not null`,
    [[...new Set(rows.map((row) => dayOf(timeMsOf(row))))], table],
  )
  const kept = new Set(found.map(({ day }) => day))
  return rows.filter((row) => kept.has(dayOf(timeMsOf(row))))
}
