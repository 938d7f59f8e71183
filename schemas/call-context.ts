/**
 * What is known of a call besides its bodies. The same fields travel from capture to score, so no consumer
 * needs a query.
 */
export interface CallContext {
  project_id: string
  /**
   * The tier when the call was admitted: it decides which scorers run. A job made from Postgres (sweep,
   * replay of the tables) has the tier of that day, because rows keep none.
   */
  tier: string
  /** `gateway`, `sdk`, `trace`, `mcp`, `otel`, `redteam` or `api`. */
  source: string
  model: string
  provider: string | null
  agent_name: string | null
  agent_tag: string | null
  session_id: string | null
  user_id: string | null
  /** `request_body.type`, for instance `mcp_tool_call`. */
  type: string | null
  tool_name: string | null
  prompt_tokens: number | null
  completion_tokens: number | null
  cached_tokens: number | null
  reasoning_tokens: number | null
  cost_usd: number | null
  latency_ms: number | null
  time_to_first_token_ms: number | null
  status_code: number | null
  error: string | null
  /** `client` or `upstream` when the answer was cut off. */
  aborted_by: string | null
  /** JSON object as text. */
  metadata: string | null
  zero_content_retention: boolean
}

const nullable = (name: string, type: string) => ({ name, type: ['null', type], default: null })

/** The Avro fields of a CallContext, to be spread into the records that carry one. */
export const callContextAvro = [
  { name: 'project_id', type: 'string' },
  { name: 'tier', type: 'string' },
  { name: 'source', type: 'string' },
  { name: 'model', type: 'string' },
  nullable('provider', 'string'),
  nullable('agent_name', 'string'),
  nullable('agent_tag', 'string'),
  nullable('session_id', 'string'),
  nullable('user_id', 'string'),
  nullable('type', 'string'),
  nullable('tool_name', 'string'),
  nullable('prompt_tokens', 'long'),
  nullable('completion_tokens', 'long'),
  nullable('cached_tokens', 'long'),
  nullable('reasoning_tokens', 'long'),
  nullable('cost_usd', 'double'),
  nullable('latency_ms', 'double'),
  nullable('time_to_first_token_ms', 'double'),
  nullable('status_code', 'int'),
  nullable('error', 'string'),
  nullable('aborted_by', 'string'),
  nullable('metadata', 'string'),
  { name: 'zero_content_retention', type: 'boolean', default: false },
] as const

/** Copies the context out of a record that carries one. */
export function contextOf(record: CallContext): CallContext {
  const context: Record<string, unknown> = {}
  for (const { name } of callContextAvro) context[name] = record[name as keyof CallContext]
  return context as unknown as CallContext
}
