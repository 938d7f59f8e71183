import type { PlacedCall } from '../steps/place-call.ts'
import type { CopyColumn } from './copy-rows.ts'

/** The columns of llm_requests that a record fills. */
export const callColumns: readonly CopyColumn<PlacedCall>[] = [
  { name: 'project_id', type: 'uuid', value: ({ projectUuid }) => projectUuid },
  { name: 'id', type: 'uuid', value: ({ requestUuid }) => requestUuid },
  { name: 'created_at', type: 'timestamptz', value: ({ createdAtMs }) => createdAtMs },
  { name: 'source', type: 'text', value: ({ call }) => call.source },
  { name: 'model', type: 'text', value: ({ call }) => call.model },
  { name: 'provider', type: 'text', value: ({ call }) => call.provider },
  { name: 'agent_name', type: 'text', value: ({ call }) => call.agent_name },
  { name: 'agent_tag', type: 'text', value: ({ call }) => call.agent_tag },
  { name: 'session_id', type: 'text', value: ({ call }) => call.session_id },
  { name: 'user_id', type: 'text', value: ({ call }) => call.user_id },
  { name: 'type', type: 'text', value: ({ call }) => call.type },
  { name: 'tool_name', type: 'text', value: ({ call }) => call.tool_name },
  { name: 'prompt_tokens', type: 'int8', value: ({ call }) => call.prompt_tokens },
  { name: 'completion_tokens', type: 'int8', value: ({ call }) => call.completion_tokens },
  { name: 'cached_tokens', type: 'int8', value: ({ call }) => call.cached_tokens },
  { name: 'reasoning_tokens', type: 'int8', value: ({ call }) => call.reasoning_tokens },
  { name: 'cost_usd', type: 'float8', value: ({ call }) => call.cost_usd },
  { name: 'latency_ms', type: 'float8', value: ({ call }) => call.latency_ms },
  { name: 'time_to_first_token_ms', type: 'float8', value: ({ call }) => call.time_to_first_token_ms },
  { name: 'status_code', type: 'int4', value: ({ call }) => call.status_code },
  { name: 'error', type: 'text', value: ({ call }) => call.error },
  { name: 'aborted_by', type: 'text', value: ({ call }) => call.aborted_by },
  { name: 'metadata', type: 'jsonb', value: ({ call }) => call.metadata },
  { name: 'zero_content_retention', type: 'bool', value: ({ call }) => call.zero_content_retention },
  {
    name: 'masked',
    type: 'jsonb',
    value: ({ call }) => (call.masked ? JSON.stringify(call.masked) : null),
  },
  { name: 'received_at', type: 'timestamptz', value: ({ call }) => call.received_at },
]

/** The columns of search_signatures: as they came. */
export const signatureColumns: readonly CopyColumn<PlacedCall>[] = [
  { name: 'project_id', type: 'uuid', value: ({ projectUuid }) => projectUuid },
  { name: 'request_id', type: 'uuid', value: ({ requestUuid }) => requestUuid },
  { name: 'created_at', type: 'timestamptz', value: ({ createdAtMs }) => createdAtMs },
  { name: 'key_id', type: 'text', value: ({ call }) => call.search?.key_id ?? null },
  { name: 'bits', type: 'bytea', value: ({ call }) => call.search?.bits ?? null },
]

/** The columns of llm_request_bodies: sealed as they came. */
export const bodyColumns: readonly CopyColumn<PlacedCall>[] = [
  { name: 'project_id', type: 'uuid', value: ({ projectUuid }) => projectUuid },
  { name: 'request_id', type: 'uuid', value: ({ requestUuid }) => requestUuid },
  { name: 'created_at', type: 'timestamptz', value: ({ createdAtMs }) => createdAtMs },
  { name: 'request_codec', type: 'text', value: ({ call }) => call.request_body?.codec ?? null },
  { name: 'request_key_id', type: 'text', value: ({ call }) => call.request_body?.key_id ?? null },
  { name: 'request_data', type: 'bytea', value: ({ call }) => call.request_body?.data ?? null },
  { name: 'response_codec', type: 'text', value: ({ call }) => call.response_body?.codec ?? null },
  { name: 'response_key_id', type: 'text', value: ({ call }) => call.response_body?.key_id ?? null },
  { name: 'response_data', type: 'bytea', value: ({ call }) => call.response_body?.data ?? null },
]

/** The columns of request_previews. */
export const previewColumns: readonly CopyColumn<PlacedCall>[] = [
  { name: 'project_id', type: 'uuid', value: ({ projectUuid }) => projectUuid },
  { name: 'request_id', type: 'uuid', value: ({ requestUuid }) => requestUuid },
  { name: 'created_at', type: 'timestamptz', value: ({ createdAtMs }) => createdAtMs },
  { name: 'codec', type: 'text', value: ({ call }) => call.preview?.codec ?? null },
  { name: 'key_id', type: 'text', value: ({ call }) => call.preview?.key_id ?? null },
  { name: 'data', type: 'bytea', value: ({ call }) => call.preview?.data ?? null },
]
