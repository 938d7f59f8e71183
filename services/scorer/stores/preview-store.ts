import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { sealedBodiesOf, type SealedBodyColumns, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { ProjectScorerRow } from '../scoring/custom/project-scorers.ts'
import type { OpenableJob } from '../steps/open-call.ts'

/** A preview that this process carries out. */
export interface Preview {
  id: string
  projectId: string
  scorer: ProjectScorerRow
  days: number
  reviewsOf: string | null
  tries: number
}

/** A call to look at, and what its reviews expect. */
export interface PreviewCall {
  id: string
  createdAt: Date
  expected: 'safe' | 'unsafe' | null
}

export interface PreviewStore {
  /** The oldest preview that nobody works on; undefined: none. */
  claim(): Promise<Preview | undefined>
  /** Lets another process take it at once. */
  release(id: string): Promise<void>
  finish(id: string, report: object, hits: SealedBytes): Promise<void>
  fail(id: string, problem: string): Promise<void>
  /** Deletes results that are an hour old. */
  tidy(): Promise<void>
  /** At most `limit` calls: those with reviews first, as far as half of them, then the newest. */
  callsOf(preview: Preview, limit: number): Promise<PreviewCall[]>
  /** Undefined: erased meanwhile. */
  jobOf(projectId: string, call: PreviewCall): Promise<OpenableJob | undefined>
}

/** Longer than a preview may take. */
const leaseMs = 10 * 60_000

export function createPreviewStore(pool: Pool): PreviewStore {
  return {
    async claim() {
      const { rows } = await query<PreviewRow>(pool, claimSql, [leaseMs])
      return rows.map(previewOf)[0]
    },
    async release(id) {
      await query(
        pool,
        `update scorer_previews set status = 'queued', lease_until = null, tries = tries - 1 where id = $1 and status = 'running'`,
        [idToUuid(id)],
      )
    },
    async finish(id, report, hits) {
      await query(
        pool,
        `update scorer_previews set status = 'done', lease_until = null, finished_at = now(), report = $2,
           hits_codec = $3, hits_key_id = $4, hits_data = $5 where id = $1 and status = 'running'`,
        [idToUuid(id), JSON.stringify(report), hits.codec, hits.key_id, hits.data],
      )
    },
    async fail(id, problem) {
      await query(
        pool,
        `update scorer_previews set status = 'failed', lease_until = null, finished_at = now(), problem = $2
         where id = $1 and status = 'running'`,
        [idToUuid(id), problem.slice(0, 2_000)],
      )
    },
    async tidy() {
      await query(pool, `delete from scorer_previews where created_at < now() - interval '1 hour'`)
    },
    callsOf: (preview, limit) => readCalls(pool, preview, limit),
    jobOf: (projectId, call) => readJob(pool, projectId, call),
  }
}

interface PreviewRow {
  id: string
  project_id: string
  scorer: ProjectScorerRow
  days: number
  reviews_of: string | null
  tries: number
}

const claimSql = `
  update scorer_previews set status = 'running', tries = tries + 1, lease_until = now() + $1 * interval '1 millisecond'
  where id = (
    select id from scorer_previews where status in ('queued', 'running') and (lease_until is null or lease_until < now())
    order by created_at limit 1 for update skip locked)
  returning id, project_id, scorer, days, reviews_of, tries`

function previewOf(row: PreviewRow): Preview {
  const { scorer, days, tries } = row
  return {
    id: idFromUuid('scorerPreview', row.id),
    projectId: idFromUuid('project', row.project_id),
    scorer,
    days,
    reviewsOf: row.reviews_of,
    tries,
  }
}

// A review is later than its call. Red-team calls are attacks that somebody ordered.
const reviewedSql = `
  select w.request_id as id, w.request_created_at as created_at, bool_or(w.expected_label = 'unsafe') as expects_unsafe
  from score_reviews w join llm_requests r
    on r.project_id = w.project_id and r.id = w.request_id and r.created_at = w.request_created_at
  where w.project_id = $1 and w.created_at >= now() - make_interval(days => $2) and w.request_created_at >= now() - make_interval(days => $2)
    and r.source <> 'redteam' and ($4::text is null or w.scorer_name = $4)
  group by 1, 2 order by 2 desc, 1 desc limit $3`
const newestSql = `
  select r.id, r.created_at, null::boolean as expects_unsafe from llm_requests r
  where r.project_id = $1 and r.created_at >= now() - make_interval(days => $2) and r.source <> 'redteam' and r.id <> all ($4)
  order by r.created_at desc, r.id desc limit $3`

interface CallRow {
  id: string
  created_at: Date
  expects_unsafe: boolean | null
}

async function readCalls(
  pool: Pool,
  { projectId, days, reviewsOf }: Preview,
  limit: number,
): Promise<PreviewCall[]> {
  const project = idToUuid(projectId)
  const most = Math.floor(limit / 2)
  const reviewed = (await query<CallRow>(pool, reviewedSql, [project, days, most, reviewsOf])).rows
  const known = reviewed.map(({ id }) => id)
  const newest = (await query<CallRow>(pool, newestSql, [project, days, limit - known.length, known])).rows
  return [...reviewed, ...newest].map((row) => ({
    id: idFromUuid('request', row.id),
    createdAt: row.created_at,
    expected: row.expects_unsafe === null ? null : row.expects_unsafe ? 'unsafe' : 'safe',
  }))
}

type JobRow = SealedBodyColumns &
  Omit<OpenableJob, 'project_id' | 'request_id' | 'request_body' | 'response_body'>

const jobSql = `
  select r.prompt_tokens::float8, r.completion_tokens::float8, r.reasoning_tokens::float8, r.cost_usd, r.aborted_by, r.metadata::text,
    b.request_codec, b.request_key_id, b.request_data, b.response_codec, b.response_key_id, b.response_data
  from llm_requests r
  left join llm_request_bodies b on b.project_id = r.project_id and b.request_id = r.id and b.created_at = r.created_at
  where r.project_id = $1 and r.id = $2 and r.created_at = $3`

async function readJob(pool: Pool, projectId: string, call: PreviewCall): Promise<OpenableJob | undefined> {
  const values = [idToUuid(projectId), idToUuid(call.id), call.createdAt]
  const [row] = (await query<JobRow>(pool, jobSql, values)).rows
  if (row === undefined) return undefined
  const { request, response } = sealedBodiesOf(row)
  const { prompt_tokens, completion_tokens, reasoning_tokens, cost_usd, aborted_by, metadata } = row
  return {
    project_id: projectId,
    request_id: call.id,
    request_body: request,
    response_body: response,
    ...{ prompt_tokens, completion_tokens, reasoning_tokens, cost_usd, aborted_by, metadata },
  }
}
