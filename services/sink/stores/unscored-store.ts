import type { ClientBase } from 'pg'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { loadJobs, type CallKey } from './load-jobs.ts'

/** Which calls a round looks at and how much it takes. */
export interface SweepSlice {
  /** Of `created_at`. */
  from: Date
  to: Date
  /** Calls stored less long ago may be on their way still; by the database's clock, or a sink that is ahead would take calls that are being scored. */
  ageMs: number
  maxCalls: number
  maxBytes: number
  /** After so many tries a call is left alone: something drops its job, or keeps failing on it. */
  maxTries: number
  /** When the jobs are queued. */
  nowMs: number
}

// Projects in turn, and of each those first that were tried least: the calls that its sampling leaves without any scorer have no verdict either,
// and many of them delay their own project alone (docs/decisions/0014). Bodies are measured without being read: octet_length looks at what
// stands in the row.
const findSql = `
  with chosen as (
    select project_id, id, created_at, row_number() over (order by turn, created_at, id) as place from (
      select r.project_id, r.id, r.created_at,
        row_number() over (partition by r.project_id order by coalesce(s.tries, 0), r.created_at, r.id) as turn
      from llm_requests r left join swept_calls s on s.project_id = r.project_id and s.request_id = r.id
      where r.created_at >= $1 and r.created_at < $2 and r.stored_at < now() - $3 * interval '1 millisecond'
        and not exists (select from request_verdicts v where v.project_id = r.project_id and v.request_id = r.id
          and v.request_created_at = r.created_at)
        and (s.request_id is null or (s.tries < $4 and s.swept_at <= now() - interval '1 hour'))
    ) unscored order by place limit $5
  )
  select project_id, id, created_at from (
    select c.*, sum(size) over (order by place) - size as bytes_before from chosen c cross join lateral (
      select coalesce(sum(octet_length(b.request_data)), 0) + coalesce(sum(octet_length(b.response_data)), 0) as size
      from llm_request_bodies b where b.project_id = c.project_id and b.request_id = c.id and b.created_at = c.created_at
    ) bodies
  ) measured where bytes_before < $6 order by place`

/** Counts a try for calls without a live score, and returns the jobs that score them: without bodies where there are none. */
export async function claimUnscored(client: ClientBase, slice: SweepSlice): Promise<ScoreJob[]> {
  const { from, to, ageMs, maxCalls, maxBytes, maxTries, nowMs } = slice
  const { rows: keys } = await client.query<CallKey>(findSql, [from, to, ageMs, maxTries, maxCalls, maxBytes])
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

/** Deletes what is known of calls that no sweep looks at any more. */
export async function forgetSwept(client: ClientBase, days: number): Promise<void> {
  await client.query('delete from swept_calls where swept_at < now() - make_interval(days => $1)', [days])
}
