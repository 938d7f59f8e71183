import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { loadJobs, type CallKey } from './load-jobs.ts'

/** Which calls a round looks at and how much it takes. */
export interface SweepSlice {
  /** UUIDs. */
  projects: readonly string[]
  /** Of `created_at`. */
  from: Date
  to: Date
  /** Calls stored or tried later may be on their way still. By the database's clock. */
  storedBefore: Date
  maxCalls: number
  maxBytes: number
  /** After this many tries a call is left alone: its job is dropped or keeps failing. */
  maxTries: number
  /** When the jobs are queued. */
  nowMs: number
}

// Projects in turn, the least tried calls of each first: calls that sampling leaves without a scorer have no
// verdict either, and many of them delay only their own project (docs/decisions/0014). Each project's share
// is taken before ranking. octet_length measures bodies without reading them. With the bounds Postgres skips
// the other days' partitions.
const findSql = `
  with chosen as (
    select project_id, id, created_at, row_number() over (order by turn, created_at, id) as place from (
      select unscored.*, row_number() over (partition by p.id order by tries, unscored.created_at, unscored.id) as turn
      from unnest($7::uuid[]) as p (id) cross join lateral (
        select r.project_id, r.id, r.created_at, coalesce(s.tries, 0) as tries
        from llm_requests r left join swept_calls s on s.project_id = r.project_id and s.request_id = r.id
        where r.project_id = p.id and r.created_at >= $1 and r.created_at < $2 and r.stored_at < $3
          and not exists (select from request_verdicts v where v.project_id = r.project_id and v.request_id = r.id
            and v.request_created_at = r.created_at and v.request_created_at >= $1 and v.request_created_at < $2)
          and (s.request_id is null or (s.tries < $4 and s.swept_at <= least($3, now() - interval '1 hour')))
        order by 4, 3, 2 limit $5
      ) unscored
    ) placed order by place limit $5
  )
  select project_id, id, created_at from (
    select c.*, sum(size) over (order by place) - size as bytes_before from chosen c cross join lateral (
      select coalesce(sum(octet_length(b.request_data)), 0) + coalesce(sum(octet_length(b.response_data)), 0) as size
      from llm_request_bodies b where b.project_id = c.project_id and b.request_id = c.id and b.created_at = c.created_at
        and b.created_at >= $1 and b.created_at < $2
    ) bodies
  ) measured where bytes_before < $6 order by place`

/** Projects with calls that have no verdict, and how many calls they have. */
export interface ShortProjects {
  projects: string[]
  calls: number
}

/**
 * Projects with more calls than verdicts in the hours of `from` and `to`, by the roll-ups. They count both in
 * the transactions that store them, and erased ones stay counted in both, so no call without a verdict is
 * missed. Few projects are found, and only their calls are read.
 */
export async function findShortProjects(
  pool: Pool,
  { from, to }: Pick<SweepSlice, 'from' | 'to'>,
): Promise<ShortProjects> {
  const { rows } = await query<{ id: string; calls: number }>(
    pool,
    // By project, each a look at the primary key.
    `select p.id, counted.calls from projects p cross join lateral (
       select sum(calls)::float8 as calls, sum(verdict_safe + verdict_unscored + verdict_unsafe)::float8 as verdicts from call_rollups
       where project_id = p.id and hour > $1::timestamptz - interval '1 hour' and hour < $2
     ) counted where calls > verdicts order by p.id`,
    [from, to],
  )
  return { projects: rows.map(({ id }) => id), calls: rows.reduce((sum, { calls }) => sum + calls, 0) }
}

/** Counts a try of calls without a live score and returns their jobs, without bodies if these are gone. */
export async function claimUnscored(client: ClientBase, slice: SweepSlice): Promise<ScoreJob[]> {
  const { projects: ofProjects, from, to, storedBefore, maxCalls, maxBytes, maxTries, nowMs } = slice
  const { rows: keys } = await client.query<CallKey>(findSql, [
    ...[from, to, storedBefore, maxTries, maxCalls, maxBytes, ofProjects],
  ])
  if (keys.length === 0) return []
  const projects = keys.map(({ project_id }) => project_id)
  const ids = keys.map(({ id }) => id)
  await client.query(
    `insert into swept_calls (project_id, request_id, tries, swept_at)
     select project_id, id, 1, now() from unnest($1::uuid[], $2::uuid[]) as calls (project_id, id)
     on conflict (project_id, request_id) do update set tries = swept_calls.tries + 1, swept_at = excluded.swept_at`,
    [projects, ids],
  )
  return loadJobs(client, keys, nowMs)
}

/** Deletes notes of calls that are too old for the sweep. */
export async function forgetSwept(client: ClientBase, days: number): Promise<void> {
  await client.query('delete from swept_calls where swept_at < now() - make_interval(days => $1)', [days])
}
