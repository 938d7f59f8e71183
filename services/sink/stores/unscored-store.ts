import type { ClientBase } from 'pg'
import { idFromUuid, liveRunId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { SealedBytes } from '#schemas/sealed-bytes.ts'

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

interface CallKey {
  project_id: string
  id: string
  created_at: Date
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
  const { rows } = await client.query<CallRow>(loadSql, [
    projects,
    ids,
    keys.map(({ created_at }) => created_at),
  ])
  return rows.map(jobOf)
}

const loadSql = `
  select r.*, r.metadata::text as metadata_text, s.tier,
    b.request_codec, b.request_key_id, b.request_data, b.response_codec, b.response_key_id, b.response_data
  from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as wanted (project_id, id, created_at)
  join llm_requests r on r.project_id = wanted.project_id and r.id = wanted.id and r.created_at = wanted.created_at
  join subscriptions s on s.project_id = r.project_id
  left join llm_request_bodies b on b.project_id = r.project_id and b.request_id = r.id and b.created_at = r.created_at`

type Copied =
  | 'tier'
  | 'source'
  | 'model'
  | 'provider'
  | 'agent_name'
  | 'agent_tag'
  | 'session_id'
  | 'user_id'
  | 'type'
  | 'tool_name'
  | 'cost_usd'
  | 'latency_ms'
  | 'time_to_first_token_ms'
  | 'status_code'
  | 'error'
  | 'aborted_by'
  | 'zero_content_retention'

interface CallRow extends Pick<ScoreJob, Copied> {
  project_id: string
  id: string
  prompt_tokens: string | null
  completion_tokens: string | null
  cached_tokens: string | null
  reasoning_tokens: string | null
  metadata_text: string | null
  request_codec: string | null
  request_key_id: string | null
  request_data: Buffer | null
  response_codec: string | null
  response_key_id: string | null
  response_data: Buffer | null
}

function jobOf(row: CallRow): ScoreJob {
  const projectId = idFromUuid('project', row.project_id)
  return {
    project_id: projectId,
    request_id: idFromUuid('request', row.id),
    run_id: liveRunId(projectId),
    scorers: null,
    tier: row.tier,
    source: row.source,
    model: row.model,
    provider: row.provider,
    agent_name: row.agent_name,
    agent_tag: row.agent_tag,
    session_id: row.session_id,
    user_id: row.user_id,
    type: row.type,
    tool_name: row.tool_name,
    prompt_tokens: numberOf(row.prompt_tokens),
    completion_tokens: numberOf(row.completion_tokens),
    cached_tokens: numberOf(row.cached_tokens),
    reasoning_tokens: numberOf(row.reasoning_tokens),
    cost_usd: row.cost_usd,
    latency_ms: row.latency_ms,
    time_to_first_token_ms: row.time_to_first_token_ms,
    status_code: row.status_code,
    error: row.error,
    aborted_by: row.aborted_by,
    metadata: row.metadata_text,
    zero_content_retention: row.zero_content_retention,
    request_body: sealedOf(row.request_codec, row.request_key_id, row.request_data),
    response_body: sealedOf(row.response_codec, row.response_key_id, row.response_data),
    queued_at: Date.now(),
  }
}

const numberOf = (text: string | null) => (text === null ? null : Number(text))

function sealedOf(codec: string | null, keyId: string | null, data: Buffer | null): SealedBytes | null {
  return codec === null || data === null ? null : { codec, key_id: keyId, data }
}

/** Deletes what is known of calls that no sweep looks at any more. */
export async function forgetSwept(client: ClientBase, days: number): Promise<void> {
  await client.query('delete from swept_calls where swept_at < now() - make_interval(days => $1)', [days])
}
