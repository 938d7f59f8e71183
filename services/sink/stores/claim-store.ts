import type { ClientBase, Pool, PoolClient } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'

/**
 * Makes the partitions of claims for last month, this month and the next. Last month: a period may have begun
 * while no sink ran, and rows of the default partition are never dropped.
 */
export async function makeClaimPartitions(client: ClientBase, now: Date): Promise<void> {
  // Everybody who claims waits behind us while we wait for those who are claiming.
  await client.query(`set local lock_timeout = '3s'`)
  await client.query(
    `select ensure_claim_partition((($1::timestamptz at time zone 'UTC') + make_interval(months => ahead))::date)
     from generate_series(-1, 1) as ahead`,
    [now],
  )
}

/**
 * Drops the oldest month of claims that no period needs, by Postgres's clock too. Returns its name, if any.
 */
export async function dropOldClaims(client: ClientBase, now: Date): Promise<string | undefined> {
  // A period is at most 31 days old, and asks for claims of the one before (claim_requests): 32 days.
  const { rows } = await client.query<{ name: string }>(
    `select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
     where inhparent = 'quota_claims'::regclass and child.relname ~ '_\\d{6}$'
       and right(child.relname, 6) < to_char((least($1::timestamptz, now()) at time zone 'UTC') - interval '63 days', 'YYYYMM')
     order by 1 limit 1`,
    [now],
  )
  const name = rows[0]?.name
  if (name !== undefined) await client.query(`drop table ${client.escapeIdentifier(name)}`)
  return name
}

/** What the time was `ageMs` ago, by the database's clock. */
export async function readTimeAgo(pool: Pool, ageMs: number): Promise<Date> {
  const { rows } = await query<{ time: Date }>(
    pool,
    `select clock_timestamp() - $1 * interval '1 millisecond' as time`,
    [ageMs],
  )
  return (rows[0] as { time: Date }).time
}

/**
 * Until when claims have been looked at; at first the time of the oldest claim, or `otherwise`. Saved at
 * once, while there are few claims: finding the oldest reads them all, 1.6 s for 1.5 million.
 */
export async function readSweptUntil(pool: Pool, otherwise: Date): Promise<Date> {
  const { rows } = await query<{ swept_until: Date }>(
    pool,
    `with begun as (
       insert into quota_sweeps (swept_until) select least(min(claimed_at), $1) from quota_claims
       where not exists (select from quota_sweeps) on conflict do nothing returning swept_until
     ) select swept_until from quota_sweeps union all select swept_until from begun`,
    [otherwise],
  )
  // None: another sink began at the same moment.
  return rows[0]?.swept_until ?? otherwise
}

export async function saveSweptUntil(pool: Pool, until: Date): Promise<void> {
  await query(
    pool,
    `insert into quota_sweeps (swept_until) values ($1)
     on conflict (only_row) do update set swept_until = greatest(quota_sweeps.swept_until, excluded.swept_until)`,
    [until],
  )
}

const dayMs = 86_400_000

/** Claims of one project whose call is not stored. */
export interface LostClaims {
  projectUuid: string
  requestUuids: string[]
}

/** Claims taken in [`from`, `to`) whose call is neither stored nor erased, at most `limit`. */
export async function findLostClaims(
  pool: Pool | PoolClient,
  from: Date,
  to: Date,
  limit: number,
): Promise<LostClaims[]> {
  const { rows } = await query<{ project_id: string; request_ids: string[] }>(
    pool,
    // The time in the identifier leads to the one partition that can have the call. Ingest takes none over 7
    // days old or 2 hours ahead. With these bounds, and a day to spare, Postgres skips the other days'
    // partitions before it locks them: 9 locks instead of 370 for a year. They must be parameters, as a time
    // plus an interval is known only after planning and locking.
    `select project_id, array_agg(request_id) as request_ids from (
       select c.project_id, c.request_id from quota_claims c
       where c.claimed_at >= $1 and c.claimed_at < $2 and not exists (
         select from llm_requests r where r.project_id = c.project_id and r.id = c.request_id
           and r.created_at >= $4 and r.created_at < $5
           and r.created_at = to_timestamp(('x' || left(replace(c.request_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)::timestamptz(3))
         and not exists (select from erased_requests x where x.project_id = c.project_id and x.request_id = c.request_id)
       limit $3
     ) lost group by project_id order by project_id`,
    [from, to, limit, new Date(from.getTime() - 8 * dayMs), new Date(to.getTime() + dayMs)],
  )
  return rows.map((row) => ({ projectUuid: row.project_id, requestUuids: row.request_ids }))
}

/**
 * Returns claims: those of the current period no longer count. Locks the project's row as admitting does; a
 * claim that was used again meanwhile stays. Resolves to how many were returned.
 */
export function returnClaims(
  pool: Pool,
  { projectUuid, requestUuids }: LostClaims,
  before: Date,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    await client.query('select from subscriptions where project_id = $1 for update', [projectUuid])
    const { rows } = await client.query<{ returned: number }>(
      `with returned as (
         delete from quota_claims where project_id = $1 and request_id = any ($2::uuid[]) and claimed_at < $3 returning period_start
       ), counted as (
         update subscriptions s set requests_this_period = greatest(0, s.requests_this_period -
           (select count(*) from returned where returned.period_start = s.period_start))
         where s.project_id = $1
       ) select count(*)::integer as returned from returned`,
      [projectUuid, requestUuids, before],
    )
    return rows[0]?.returned ?? 0
  })
}
