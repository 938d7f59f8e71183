import type { CallContext } from '#schemas/call-context.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { TopicValues } from '#schemas/topics.ts'

/** One value per schema with every field set, the source of golden fixtures. */

const projectId = 'prj_01m9v2r7a0eksrx5xyvd2f4tg8'
const requestId = 'req_01m9v2rb48fyt8q5m0j5s9w3zk'
const runId = 'run_01m9v2r7a0fkzst1ab8g33prw5'
const at = 1_795_260_000_123

const context: CallContext = {
  project_id: projectId,
  tier: 'enterprise',
  source: 'gateway',
  model: 'gpt-4o-mini',
  provider: 'openai',
  agent_name: 'billing-helper',
  agent_tag: 'v3',
  session_id: 'session-7',
  user_id: 'user-42',
  type: 'mcp_tool_call',
  tool_name: 'search_invoices',
  prompt_tokens: 1_204,
  completion_tokens: 87,
  cached_tokens: 512,
  reasoning_tokens: 12,
  cost_usd: 0.00231,
  latency_ms: 841.5,
  time_to_first_token_ms: 212.25,
  status_code: 200,
  error: 'none',
  aborted_by: 'client',
  metadata: '{"région":"Zürich","emoji":"🙂"}',
  zero_content_retention: true,
}

const event: RaisedEvent = {
  id: 'evt_01m9v2rb48e7tk3h0w0n4q8q0b',
  event: 'threat_detected',
  project_id: projectId,
  created_at: at,
  data: Buffer.from('{"scorer_name":"pii_detection","severity":"critical"}'),
  content: sealed(sealedIdentity(projectId, requestId, 'event_content')),
  content_id: requestId,
  webhook_id: 'whk_01m9v2qzz0e1r9c3h6m5x2v7na',
}

export const schemaExamples: TopicValues = {
  LlmRequestLogged: {
    ...context,
    id: requestId,
    request_body: sealed('{"messages":[]}'),
    response_body: sealed('{"choices":[]}'),
    tool_names: ['search', 'send_mail'],
    tool_definitions: [{ server: 'github', tool: 'search', hash: '2c26b46b' }],
    received_at: at,
    preview: sealed('{"prompt":"Where is my invoice?","answer":null}'),
    search: { key_id: 's1', bits: Buffer.from([0, 1, 127, 128, 255]) },
    masked: [{ kind: 'email_address', place: 'request_body', count: 2 }],
  },
  SafetyScoreJob: {
    ...context,
    request_id: requestId,
    run_id: runId,
    scorers: ['pii_detection', 'jailbreak_detection'],
    request_body: sealed('{"messages":[]}'),
    response_body: sealed('{"choices":[]}'),
    queued_at: at,
    raise_events: true,
    masked: [{ kind: 'payment_card', place: 'response_body', count: 1 }],
  },
  SafetyScoreRecorded: {
    ...context,
    request_id: requestId,
    run_id: runId,
    content: sealed('{"prompt_snippet":"my card is"}'),
    raise_events: true,
    scores: [
      {
        id: 'scr_01m9v2rb48f4d1r1v8e5t2n0ws',
        scorer_name: 'pii_detection',
        score_value: 5,
        score_label: 'unsafe',
        severity: 'critical',
        method: 'detector',
        scorer_version: '1',
        owasp_category: 'LLM02',
        reason: 'none',
        details: sealed('{"rationale":"a card number"}'),
        scored_at: at,
        found_values: [
          {
            kind: 'card_number',
            tool: 'search_invoices',
            hash: Buffer.from('00112233445566778899aabbccddeeff', 'hex'),
          },
        ],
        found_more: false,
      },
    ],
  },
  EventRaised: event,
  WebhookDelivery: {
    delivery_id: 'dlv_01m9v2rb48ec5w5q3nq9t1a2mv',
    webhook_id: 'whk_01m9v2qzz0e1r9c3h6m5x2v7na',
    project_id: projectId,
    attempt: 2,
    first_attempt: 1,
    due_at: at,
    event,
    last_error: 'the receiver answered 503',
  },
}

function sealed(text: string): SealedBytes {
  return { codec: 'zstd', key_id: 'k1', data: Buffer.from(text) }
}
