import { contextOf, type CallContext } from '#schemas/call-context.ts'
import { liveRunId, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { Score, ScoredCall } from '#schemas/safety-score-recorded.ts'
import { placeCall, type PlacedCall } from '../steps/place-call.ts'

const sealed = (text: string) => ({ codec: 'none', key_id: null, data: Buffer.from(text) })

function sampleContext(projectId: string): CallContext {
  return {
    project_id: projectId,
    tier: 'enterprise',
    source: 'gateway',
    model: 'gpt-4o-mini',
    provider: 'openai',
    agent_name: 'support-bot',
    agent_tag: 'v2',
    session_id: 'session-1',
    user_id: 'user-1',
    type: null,
    tool_name: null,
    prompt_tokens: 12,
    completion_tokens: 34,
    cached_tokens: 0,
    reasoning_tokens: null,
    cost_usd: 0.000_25,
    latency_ms: 321.5,
    time_to_first_token_ms: 80,
    status_code: 200,
    error: null,
    aborted_by: null,
    metadata: '{"team":"a"}',
    zero_content_retention: false,
  }
}

/** A call as ingest logs it. */
export function sampleCall(projectId: string, changes: Partial<LoggedCall> = {}): LoggedCall {
  return {
    ...sampleContext(projectId),
    id: newId('request'),
    request_body: sealed('{"messages":[{"role":"user","content":"hi"}]}'),
    response_body: sealed('{"choices":[]}'),
    tool_names: [],
    tool_definitions: [],
    received_at: Date.now(),
    preview: sealed('{"prompt":"hi","answer":null}'),
    search: { key_id: 's1', bits: Buffer.from([1, 2, 3]) },
    ...changes,
  }
}

/** A call as the sink places what it read at `offset` of some partition. */
export function placeSample(value: LoggedCall, offset: number): PlacedCall {
  return placeCall({
    topic: '',
    partition: 0,
    offset: BigInt(offset),
    key: null,
    value,
    headers: {},
    timestampMs: 0,
  })
}

/** An unsafe score of `requestId` by `scorer` in the live run. */
export function sampleScore(projectId: string, requestId: string, changes: Partial<Score> = {}): Score {
  const scorer = changes.scorer_name ?? 'pii_detection'
  return {
    id: scoreId(projectId, requestId, scorer, liveRunId(projectId)),
    scorer_name: scorer,
    score_value: 5,
    score_label: 'unsafe',
    severity: 'critical',
    method: 'detector',
    scorer_version: '1',
    owasp_category: 'LLM02',
    reason: null,
    details: sealed('{"rationale":"an address","evidence":[]}'),
    scored_at: Date.now(),
    found_values: [],
    found_more: false,
    ...changes,
  }
}

/** What a scorer records of `call`, with `scores` or one unsafe one. */
export function sampleScoredCall(call: LoggedCall, changes: Partial<ScoredCall> = {}): ScoredCall {
  return {
    ...contextOf(call),
    request_id: call.id,
    run_id: liveRunId(call.project_id),
    content: sealed('{"prompt_snippet":"hi","completion_snippet":null}'),
    raise_events: true,
    scores: [sampleScore(call.project_id, call.id)],
    ...changes,
  }
}

/** A list of `count` made one by one. */
export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
