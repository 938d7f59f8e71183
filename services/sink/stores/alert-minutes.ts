import type { ClientBase } from 'pg'
import { minuteTables } from './rollup-tables.ts'

/** Of each table in one statement: rows of five projects' busiest minute, or of an hour of a quiet system. */
const maxDeleted = 20_000

/** Deletes counts of minutes two days old: the longest window has one day. Returns how many. */
export async function deleteOldMinutes(client: ClientBase): Promise<number> {
  let deleted = 0
  for (const { name } of minuteTables) {
    const { rowCount } = await client.query(
      `delete from ${name} where ctid = any (array(
         select ctid from ${name} where minute < now() - interval '48 hours' limit ${maxDeleted}))`,
    )
    deleted += rowCount ?? 0
  }
  return deleted
}
