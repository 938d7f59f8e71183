import { isEvaluation } from './evaluations.ts'
import type { Span } from './read-spans.ts'
import { firstOf } from './span-fields.ts'

/** What a span is recorded as; null: it is none of a model or a tool. */
export type SpanKind = 'model' | 'tool' | null

const modelOperations = new Set(['chat', 'text_completion', 'completion', 'generate_content', 'embeddings'])
/** Names of kinds outside the GenAI conventions. */
const kinds: ReadonlyMap<string, SpanKind> = new Map([
  ['llm', 'model'],
  ['embedding', 'model'],
  ['generation', 'model'],
  ['tool', 'tool'],
])
const kindAttributes = ['openinference.span.kind', 'langfuse.observation.type', 'traceloop.span.kind']
/** Vercel's outer span `ai.generateText` has the same words again as the call of the provider within. */
const vercelCall = /^ai\.\w+\.do\w+$/

/**
 * A span of a model, a tool, or neither. Agents, chains and retrievals hold the calls and are none; the spans
 * inside are recorded. Nor are results of evaluations.
 */
export function kindOfSpan(span: Span): SpanKind {
  if (isEvaluation(span)) return null
  const kind = statedKind(span)
  return kind === 'model' && beginsLogfireStream(span) ? null : kind
}

function statedKind({ attributes, name }: Span): SpanKind {
  const vercel = attributes.get('ai.operationId')
  if (typeof vercel === 'string')
    return vercel === 'ai.toolCall' ? 'tool' : vercelCall.test(vercel) ? 'model' : null
  const operation = attributes.get('gen_ai.operation.name')
  if (operation === 'execute_tool') return 'tool'
  if (typeof operation === 'string') return modelOperations.has(operation) ? 'model' : null
  const kind = firstOf(attributes, kindAttributes)
  if (typeof kind === 'string') return kinds.get(kind.toLowerCase()) ?? null
  if (attributes.get('mcp.method.name') === 'tools/call' || name.startsWith('tools/call ')) return 'tool'
  const isModel = firstOf(attributes, ['llm.request.type', 'gen_ai.request.model']) !== undefined
  return isModel ? 'model' : null
}

const logfireClients = new Set(['logfire.openai', 'logfire.anthropic'])
const logfireAnswer = ['gen_ai.output.messages', 'response_data', 'gen_ai.usage.input_tokens']

/** Logfire ends the span of a stream where it begins, and records all of it in a log when it has ended. */
function beginsLogfireStream({ scope, error, attributes }: Span): boolean {
  return logfireClients.has(scope) && error === null && firstOf(attributes, logfireAnswer) === undefined
}
