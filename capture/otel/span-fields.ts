import type { Attributes } from './otlp-values.ts'

/**
 * Attributes that fill a field of the record: the first that a span has decides. `docs/opentelemetry.md` is
 * made from it. Conventions: GenAI (`gen_ai.`), OpenInference (`llm.`, `embedding.`, `input.`), Traceloop
 * (`traceloop.`, `llm.usage.`), Langfuse (`langfuse.`), Vercel's AI SDK (`ai.`), MCP (`mcp.`).
 */
export const spanFields = {
  model: [
    'gen_ai.response.model',
    'gen_ai.request.model',
    'langfuse.observation.model.name',
    'ai.response.model',
    'ai.model.id',
    'llm.model_name',
    'embedding.model_name',
    'llm.response.model',
    'llm.request.model',
  ],
  provider: ['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system', 'ai.model.provider'],
  session_id: [
    'gen_ai.conversation.id',
    'session.id',
    'langfuse.session.id',
    'traceloop.association.properties.session_id',
    'ai.telemetry.metadata.sessionId',
    'ai.telemetry.metadata.session_id',
  ],
  user_id: [
    'user.id',
    'langfuse.user.id',
    'enduser.id',
    'traceloop.association.properties.user_id',
    'ai.telemetry.metadata.userId',
    'ai.telemetry.metadata.user_id',
  ],
  agent_name: [
    'gen_ai.agent.name',
    'agent.name',
    'ai.telemetry.functionId',
    'traceloop.workflow.name',
    'langfuse.trace.name',
  ],
  tool_name: ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name', 'traceloop.entity.name', 'mcp.tool.name'],
  arguments: [
    'gen_ai.tool.call.arguments',
    'ai.toolCall.args',
    'langfuse.observation.input',
    'traceloop.entity.input',
    'input.value',
    'tool_arguments',
  ],
  result: [
    'gen_ai.tool.call.result',
    'ai.toolCall.result',
    'langfuse.observation.output',
    'traceloop.entity.output',
    'output.value',
    'tool_response',
  ],
  status_code: ['http.response.status_code', 'http.status_code', 'error.type'],
} as const satisfies Record<string, readonly string[]>

/** Tokens of a call. `prompt` includes cached and written ones, `completion` those of reasoning. */
export const spanTokens = {
  prompt: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'llm.token_count.prompt',
    'ai.usage.inputTokens',
    'ai.usage.promptTokens',
    'ai.usage.tokens',
    'llm.usage.prompt_tokens',
  ],
  completion: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    'ai.usage.outputTokens',
    'ai.usage.completionTokens',
    'llm.usage.completion_tokens',
  ],
  cached: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
    'llm.token_count.prompt_details.cache_read',
    'ai.usage.cachedInputTokens',
    'ai.usage.inputTokenDetails.cacheReadTokens',
  ],
  written: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
    'llm.token_count.prompt_details.cache_write',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
  ],
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.details.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.reasoningTokens',
    'llm.usage.reasoning_tokens',
  ],
} as const satisfies Record<string, readonly string[]>

/** Parameters of the request, as chat completions name them. */
export const spanParameters = {
  temperature: ['gen_ai.request.temperature', 'llm.request.temperature', 'ai.settings.temperature'],
  top_p: ['gen_ai.request.top_p', 'llm.top_p'],
  max_tokens: ['gen_ai.request.max_tokens', 'llm.request.max_tokens', 'ai.settings.maxOutputTokens'],
  stream: ['gen_ai.request.stream', 'llm.is_streaming', 'gen_ai.is_streaming'],
} as const satisfies Record<string, readonly string[]>

/** All parameters in one attribute, under the names of chat completions. */
export const parameterLists = ['llm.invocation_parameters', 'langfuse.observation.model.parameters'] as const

/** Why the first answer ended, where `gen_ai.response.finish_reasons` does not list it for all. */
export const finishReasons = [
  'llm.finish_reason',
  'ai.response.finishReason',
  'anthropic.message.stop_reason',
  'langfuse.observation.metadata.finish_reason',
] as const

/** Time to the first token. */
export const firstTokenMilliseconds = ['ai.response.msToFirstChunk'] as const
export const firstTokenSeconds = [
  'gen_ai.response.time_to_first_chunk',
  'gen_ai.client.operation.time_to_first_chunk',
] as const

export const firstTokenEvent = 'First Token Stream Event'

/** The value of the first of the attributes that is not empty. */
export function firstOf(attributes: Attributes, names: readonly string[]): unknown {
  for (const name of names) {
    const value = attributes.get(name)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}
