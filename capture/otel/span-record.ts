import { hashedId } from '#schemas/ids.ts'
import { fieldAt, listOf, objectOf, parseJson, textOf, type JsonObject } from '../json.ts'
import { faultOfMetadata } from '../record/fault-of-metadata.ts'
import type { ChatMessage } from './chat-messages.ts'
import { listUnder, unpacked } from './nested-attributes.ts'
import type { Attributes } from './otlp-values.ts'
import type { Span } from './read-spans.ts'
import { finishReasons, firstOf, parameterLists, spanFields, spanParameters } from './span-fields.ts'
import { answerOf, leavesOutWords, promptOf } from './span-messages.ts'
import { kindOfSpan } from './span-kind.ts'
import { labelOf, maxLabelUnits, storable } from './span-labels.ts'
import { errorOf, firstTokenMs, rounded, statusOf } from './span-outcome.ts'
import { costOf, tokensOf } from './span-tokens.ts'
import type { CallLabels } from './spans-of-calls.ts'

const maxProviderUnits = 64

/**
 * The record of a span, as `POST /internal/log` takes it; null for a span of neither a model nor a tool. The
 * identifier has the span's start and 74 hashed bits of project, trace and span: a span that is sent again is
 * the same record. Words that the instrumentation left out make a body that says `truncated`: not read, and
 * never safe.
 */
export function recordOfSpan(span: Span, projectId: string, around: CallLabels = {}): JsonObject | null {
  const kind = kindOfSpan(span)
  if (kind === null) return null
  const { traceId, spanId, attributes } = span
  const startMs = startOf(span)
  const label = (name: keyof typeof spanFields) => labelOf(firstOf(attributes, spanFields[name]))
  return withoutNulls({
    id: callIdOf({ projectId, traceId, spanId }, startMs),
    source: 'otel',
    agent_name: label('agent_name') ?? around.agent_name ?? serviceOf(span),
    session_id: label('session_id') ?? around.session_id ?? traceId,
    user_id: label('user_id') ?? around.user_id,
    latency_ms: rounded(Math.max(0, span.endMs - startMs)),
    time_to_first_token_ms: firstTokenMs(span),
    status_code: statusOf(span),
    error: errorOf(span),
    metadata: metadataOf(span),
    ...(kind === 'tool'
      ? toolCall(span)
      : modelCall(span, label('model') ?? invokedModel(attributes), label('provider'))),
  })
}

/** The place of a call: that of its span. */
export interface CallPlace {
  projectId: string
  traceId: string
  spanId: string
}

export function callIdOf({ projectId, traceId, spanId }: CallPlace, startMs: number): string {
  return hashedId('request', Math.floor(startMs), ['otel', projectId, traceId, spanId])
}

/** `unknown_service:python` says that nobody named the service. */
function serviceOf({ resource }: Span): string | undefined {
  const name = labelOf(resource.get('service.name'))
  return name?.startsWith('unknown_service') === true ? undefined : name
}

/** Logfire records a stream's end as a log without duration, and the stream's duration as an attribute. */
function startOf({ scope, attributes, startMs }: Span): number {
  const seconds = attributes.get('duration')
  const isLog = scope.startsWith('logfire') && attributes.get('logfire.span_type') === 'log'
  return isLog && typeof seconds === 'number' ? startMs - seconds * 1_000 : startMs
}

function modelCall(span: Span, model: string | undefined, provider: string | undefined): JsonObject {
  const { attributes } = span
  const [messages, answers] = [promptOf(span), answerOf(span)]
  const listed = parameterLists.map((name) => unpacked(attributes.get(name)))
  const parameters = Object.entries(spanParameters).map(([name, names]) => [
    name,
    firstOf(attributes, names) ??
      listed.map((list) => fieldAt(list, name)).find((value) => /^(?:number|boolean)$/.test(typeof value)),
  ])
  const asked = withoutNulls({
    model,
    ...(Object.fromEntries(parameters) as object),
    tools: toolsOf(attributes),
  })
  return {
    model,
    provider: provider === undefined ? undefined : providerOf(provider),
    ...tokensOf(attributes),
    ...costOf(attributes),
    request_body: {
      ...asked,
      ...(messages.length > 0 && { messages }),
      ...((messages.length === 0 || leavesOutWords(span, 'request')) && { truncated: true }),
    },
    response_body: answerBody(span, model, answers),
  }
}

/** OpenInference names no model where the call failed. */
function invokedModel(attributes: Attributes): string | undefined {
  return labelOf(fieldAt(unpacked(attributes.get('llm.invocation_parameters')), 'model'))
}

function answerBody(
  span: Span,
  model: string | undefined,
  answers: readonly ChatMessage[],
): JsonObject | null {
  const isRead = answers.some(
    ({ content, reasoning_content: thought, tool_calls: calls = [] }) =>
      (content !== null && content !== '') || thought !== undefined || calls.length > 0,
  )
  if (!isRead)
    return span.error !== null || isEmbedding(span.attributes)
      ? null
      : withoutNulls({ object: 'chat.completion', model, choices: [], truncated: true })
  const reasons = listOf(unpacked(span.attributes.get('gen_ai.response.finish_reasons')))
  const single = textOf(said(firstOf(span.attributes, finishReasons)))
  const choices = answers.map((message, index) => ({
    index,
    message,
    finish_reason: reasonOf(reasons[index] ?? (index === 0 ? single : undefined)),
  }))
  const id = textOf(firstOf(span.attributes, ['gen_ai.response.id', 'ai.response.id']))
  const truncated = leavesOutWords(span, 'response') ? true : undefined
  return withoutNulls({ id, object: 'chat.completion', model, choices, truncated })
}

/** As chat completions name it; the GenAI conventions and Vercel have other names for calls of tools. */
function reasonOf(given: unknown): unknown {
  return given === 'tool_call' || given === 'tool-calls' ? 'tool_calls' : (given ?? null)
}

export function isEmbedding(attributes: Attributes): boolean {
  const said = firstOf(attributes, [
    'gen_ai.operation.name',
    'ai.operationId',
    'openinference.span.kind',
    'langfuse.observation.type',
  ])
  return typeof said === 'string' && /embed/i.test(said)
}

function toolCall(span: Span): JsonObject {
  const { attributes } = span
  const named =
    textOf(firstOf(attributes, spanFields.tool_name)) ??
    span.name.replace(/^(?:execute_tool|tools\/call) /, '')
  const given = unpacked(firstOf(attributes, spanFields.arguments))
  const result = unpacked(firstOf(attributes, spanFields.result))
  return {
    request_body: {
      type: 'mcp_tool_call',
      tool_name: storable(named).slice(0, maxLabelUnits) || 'unknown',
      ...(given === undefined ? { truncated: true } : { arguments: objectOf(given) ?? { value: given } }),
    },
    response_body:
      result === undefined
        ? span.error === null
          ? { truncated: true }
          : null
        : (objectOf(result) ?? { result }),
  }
}

function toolsOf(attributes: Attributes): unknown {
  const listed = unpacked(firstOf(attributes, ['gen_ai.tool.definitions', 'ai.prompt.tools']))
  if (Array.isArray(listed) && listed.length > 0) return listed.map(unpacked)
  const flat = [
    ...listUnder(attributes, 'llm.tools.').map((tool) => unpacked(fieldAt(tool, 'tool', 'json_schema'))),
    ...listUnder(attributes, 'llm.request.functions.').map((tool) => ({ type: 'function', function: tool })),
  ]
  if (flat.length > 0) return flat
  const beside = listOf(fieldAt(unpacked(attributes.get('langfuse.observation.input')), 'tools'))
  return beside.length > 0 ? beside : undefined
}

/** Names of the conventions whose providers have others here. */
const providers: readonly (readonly [RegExp, string])[] = [
  [/^(?:azure|az)[._]/, 'azure'],
  [/^aws[._]|bedrock/, 'bedrock'],
  [/^gcp[._]|vertex|gemini|^google/, 'google'],
  [/^x_?ai/, 'xai'],
  [/^mistral/, 'mistral'],
]

function providerOf(name: string): string {
  const lower = name.toLowerCase()
  // Vercel: `openai.chat`, `anthropic.messages`.
  return (providers.find(([form]) => form.test(lower))?.[1] ?? lower.replace(/\..*$/, '')).slice(
    0,
    maxProviderUnits,
  )
}

const metadataPrefixes = [
  'langfuse.trace.metadata.',
  'langfuse.observation.metadata.',
  'traceloop.association.properties.',
  'ai.telemetry.metadata.',
]

/** Where the span stands, by which lists find the calls of a trace, and what the application said of it. */
function metadataOf({ traceId, spanId, parentSpanId, scope, attributes, resource }: Span): JsonObject {
  const place = withoutNulls({
    'otel.trace_id': traceId,
    'otel.span_id': spanId,
    'otel.parent_span_id': parentSpanId ?? undefined,
    'otel.scope': labelOf(scope),
    'service.name': labelOf(resource.get('service.name')),
  })
  const listed = objectOf(unpacked(attributes.get('metadata'))) ?? {}
  const own = [...attributes].flatMap(([name, value]) => {
    const prefix = metadataPrefixes.find((one) => name.startsWith(one))
    return prefix === undefined ? [] : [[name.slice(prefix.length), said(value)] as const]
  })
  const all = { ...listed, ...Object.fromEntries(own), ...place }
  return faultOfMetadata(all) === undefined ? all : place
}

/** Langfuse writes texts as JSON too, in quotes. */
function said(value: unknown): unknown {
  if (typeof value !== 'string' || !/^".*"$/s.test(value)) return value
  return textOf(parseJson(value)) ?? value
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
