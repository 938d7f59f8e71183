import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { allDayTables } from './retention-store.ts'

/** When the last day ends for which each of the tables by day has its partition, Unix seconds; long ago where one has none. */
export async function measurePartitionsEnd(pool: Pool): Promise<number> {
  const { rows } = await query<{ seconds: number }>(
    pool,
    `select extract(epoch from (min(last) + 1)::timestamp at time zone 'utc')::float8 as seconds from (
       select coalesce(max(to_date(right(relname, 8), 'YYYYMMDD')), '1970-01-01') as last
       from unnest($1::text[]) parent
       left join (pg_inherits join pg_class on pg_class.oid = inhrelid) on inhparent = parent::regclass
       group by parent
     ) as tables`,
    [allDayTables],
  )
  return rows[0]?.seconds ?? 0
}

/** Erasures that are not done. */
export async function measureErasures(pool: Pool): Promise<{ count: number; oldestSeconds: number }> {
  const { rows } = await query<{ count: number; oldest_seconds: number }>(
    pool,
    `select count(*)::integer as count, coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as oldest_seconds
     from erasures where status = 'erasing'`,
  )
  return { count: rows[0]?.count ?? 0, oldestSeconds: Math.max(0, rows[0]?.oldest_seconds ?? 0) }
}
