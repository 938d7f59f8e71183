import type { Sealer } from '#runtime/sealing.ts'
import { liveRunId, newId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { sealedIdentity, type SealedPart } from '#schemas/sealed-bytes.ts'

/** A job as the sink makes it, with sealed bodies. */
export function sampleJob(
  sealer: Sealer,
  bodies: { request?: unknown; response?: unknown } = {},
  changes: Partial<ScoreJob> = {},
): ScoreJob {
  const projectId = changes.project_id ?? newId('project')
  const requestId = changes.request_id ?? newId('request')
  const seal = (value: unknown, part: SealedPart) =>
    value === undefined
      ? null
      : sealer.seal(Buffer.from(JSON.stringify(value)), sealedIdentity(projectId, requestId, part))
  return {
    project_id: projectId,
    request_id: requestId,
    run_id: liveRunId(projectId),
    scorers: null,
    tier: 'enterprise',
    source: 'gateway',
    model: 'gpt-4o',
    provider: 'openai',
    agent_name: 'support',
    agent_tag: null,
    session_id: null,
    user_id: null,
    type: null,
    tool_name: null,
    prompt_tokens: 10,
    completion_tokens: 20,
    cached_tokens: null,
    reasoning_tokens: null,
    cost_usd: null,
    latency_ms: 12,
    time_to_first_token_ms: null,
    status_code: 200,
    error: null,
    aborted_by: null,
    metadata: null,
    zero_content_retention: false,
    request_body: seal(bodies.request, 'request_body'),
    response_body: seal(bodies.response, 'response_body'),
    queued_at: Date.now(),
    ...changes,
  }
}

/** A chat-completions request with one user turn. */
export function asks(content: string): unknown {
  return { model: 'gpt-4o', messages: [{ role: 'user', content }] }
}

/** Its answer. */
export function answers(content: string): unknown {
  return { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] }
}
