import type { ClientBase } from 'pg'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { loadJobs, type CallKey } from './load-jobs.ts'

/** Which calls a round looks at and how much it takes. */
export interface SweepSlice {
  /** Of `created_at`. */
  from: Date
  to: Date
  /** Calls taken later than this may be on their way still. */
  receivedBefore: Date
  maxCalls: number
  maxBytes: number
  /** After so many tries a call is left alone: something drops its job, or keeps failing on it. */
  maxTries: number
}

// Bodies are measured without being read: octet_length looks at what stands in the row.
const findSql = `
  select project_id, id, created_at from (
    select r.project_id, r.id, r.created_at, sum(size) over (order by r.created_at, r.id) - size as bytes_before from (
      select r.project_id, r.id, r.created_at,
        coalesce(octet_length(b.request_data), 0) + coalesce(octet_length(b.response_data), 0) as size
      from llm_requests r
      left join llm_request_bodies b on b.project_id = r.project_id and b.request_id = r.id and b.created_at = r.created_at
      where r.created_at >= $1 and r.created_at < $2 and r.received_at < $3
        and not exists (select from request_verdicts v where v.project_id = r.project_id and v.request_id = r.id
          and v.request_created_at = r.created_at)
        and not exists (select from swept_calls s where s.project_id = r.project_id and s.request_id = r.id
          and (s.tries >= $4 or s.swept_at > now() - interval '1 hour'))
      order by r.created_at, r.id limit $5
    ) r
  ) measured where bytes_before < $6 order by created_at, id`

/** Counts a try for calls without a live score, oldest first, and returns the jobs that score them: without bodies where there are none. */
export async function claimUnscored(client: ClientBase, slice: SweepSlice): Promise<ScoreJob[]> {
  const { from, to, receivedBefore, maxCalls, maxBytes, maxTries } = slice
  const { rows: keys } = await client.query<CallKey>(findSql, [
    from,
    to,
    receivedBefore,
    maxTries,
    maxCalls,
    maxBytes,
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
  return loadJobs(client, keys)
}

/** Deletes what is known of calls that no sweep looks at any more. */
export async function forgetSwept(client: ClientBase, days: number): Promise<void> {
  await client.query('delete from swept_calls where swept_at < now() - make_interval(days => $1)', [days])
}
