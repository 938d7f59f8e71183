import type { ClientBase } from 'pg'
import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { CallKey } from './load-jobs.ts'
import type { ScoreRun } from './run-store.ts'
import { timeBounds } from './time-bounds.ts'

export interface PageBounds {
  maxCalls: number
  maxBytes: number
}

// octet_length measures bodies without reading them.
const pageSql = `
  select project_id, id, created_at from (
    select r.project_id, r.id, r.created_at, sum(size) over (order by r.created_at, r.id) - size as bytes_before from (
      select r.project_id, r.id, r.created_at,
        coalesce(octet_length(b.request_data), 0) + coalesce(octet_length(b.response_data), 0) as size
      from llm_requests r
      left join llm_request_bodies b on b.project_id = r.project_id and b.request_id = r.id and b.created_at = r.created_at
        and b.created_at >= $2 and b.created_at < $3
      where r.project_id = $1 and r.created_at >= $2 and r.created_at < $3
        and ($4::timestamptz is null or (r.created_at, r.id) > ($4, $5::uuid))
      order by r.created_at, r.id limit $6
    ) r
  ) measured where bytes_before < $7 order by created_at, id`

/** The run's next calls of one project, oldest first, behind its cursor if that is in the project. */
export async function nextCalls(
  client: ClientBase,
  run: ScoreRun,
  projectUuid: string,
  { maxCalls, maxBytes }: PageBounds,
): Promise<CallKey[]> {
  const isBehind = run.cursor_project === projectUuid
  const { rows } = await client.query<CallKey>(pageSql, [
    projectUuid,
    run.start_at,
    run.end_at,
    isBehind ? run.cursor_at : null,
    isBehind ? run.cursor_id : null,
    maxCalls,
    maxBytes,
  ])
  return rows
}

/** Which of these calls are stored, as `project/request`. */
export async function storedCalls(client: ClientBase, jobs: readonly ScoreJob[]): Promise<Set<string>> {
  if (jobs.length === 0) return new Set()
  const timeMsOf = ({ request_id }: ScoreJob) => idTimeMs(request_id)
  const { rows } = await client.query<{ project_id: string; id: string }>(
    `select r.project_id, r.id from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as wanted (project_id, id, created_at)
     join llm_requests r using (project_id, id, created_at) where r.created_at between $4 and $5`,
    [
      jobs.map(({ project_id }) => idToUuid(project_id)),
      jobs.map(({ request_id }) => idToUuid(request_id)),
      jobs.map((job) => new Date(timeMsOf(job))),
      ...timeBounds(jobs, timeMsOf),
    ],
  )
  return new Set(
    rows.map(({ project_id, id }) => `${idFromUuid('project', project_id)}/${idFromUuid('request', id)}`),
  )
}
