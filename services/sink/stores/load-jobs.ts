import type { ClientBase } from 'pg'
import { idFromUuid, liveRunId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { sealedBodiesOf, type SealedBodyColumns } from '#schemas/sealed-bytes.ts'
import { timeBounds } from './time-bounds.ts'

/** A stored call by its uuid. */
export interface CallKey {
  project_id: string
  id: string
  created_at: Date
}

/** Jobs that score stored calls in their live runs by all scorers of their tiers; without bodies if gone. */
export async function loadJobs(
  client: ClientBase,
  keys: readonly CallKey[],
  queuedAtMs: number,
): Promise<ScoreJob[]> {
  if (keys.length === 0) return []
  const { rows } = await client.query<CallRow>(loadSql, [
    keys.map(({ project_id }) => project_id),
    keys.map(({ id }) => id),
    keys.map(({ created_at }) => created_at),
    ...timeBounds(keys, ({ created_at }) => created_at.getTime()),
  ])
  return rows.map((row) => jobOf(row, queuedAtMs))
}

const loadSql = `
  select r.*, r.metadata::text as metadata_text, s.tier,
    b.request_codec, b.request_key_id, b.request_data, b.response_codec, b.response_key_id, b.response_data
  from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as wanted (project_id, id, created_at)
  join llm_requests r on r.project_id = wanted.project_id and r.id = wanted.id and r.created_at = wanted.created_at
    and r.created_at between $4 and $5
  join subscriptions s on s.project_id = r.project_id
  left join llm_request_bodies b on b.project_id = r.project_id and b.request_id = r.id and b.created_at = r.created_at
    and b.created_at between $4 and $5`

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
  | 'masked'

interface CallRow extends Pick<ScoreJob, Copied>, SealedBodyColumns {
  project_id: string
  id: string
  prompt_tokens: string | null
  completion_tokens: string | null
  cached_tokens: string | null
  reasoning_tokens: string | null
  metadata_text: string | null
}

function jobOf(row: CallRow, queuedAtMs: number): ScoreJob {
  const projectId = idFromUuid('project', row.project_id)
  const { request, response } = sealedBodiesOf(row)
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
    request_body: request,
    response_body: response,
    queued_at: queuedAtMs,
    masked: row.masked ?? null,
  }
}

const numberOf = (text: string | null) => (text === null ? null : Number(text))
