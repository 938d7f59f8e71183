import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { allDayTables } from './retention-store.ts'

/** Until when, from today, all tables by day have partitions without a gap, in Unix seconds. */
export async function measurePartitionsEnd(pool: Pool): Promise<number> {
  const { rows } = await query<{ seconds: number }>(
    pool,
    `with there as materialized (
       select inhparent, to_date(right(relname, 8), 'YYYYMMDD') as day
       from pg_inherits join pg_class on pg_class.oid = inhrelid where relname ~ '_\\d{8}$'
     )
     select extract(epoch from min(day)::timestamp at time zone 'utc')::float8 as seconds
     from unnest($1::text[]) parent, lateral (select (now() at time zone 'utc')::date + n as day from generate_series(0, 400) n) wanted
     where not exists (select from there where inhparent = parent::regclass and there.day = wanted.day)`,
    [allDayTables],
  )
  return rows[0]?.seconds ?? 0
}

/** Open erasures. */
export async function measureErasures(pool: Pool): Promise<{ count: number; oldestSeconds: number }> {
  const { rows } = await query<{ count: number; oldest_seconds: number }>(
    pool,
    `select count(*)::integer as count, coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as oldest_seconds
     from erasures where status = 'erasing'`,
  )
  return { count: rows[0]?.count ?? 0, oldestSeconds: Math.max(0, rows[0]?.oldest_seconds ?? 0) }
}
