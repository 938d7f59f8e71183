import { hashedId } from '#schemas/ids.ts'
import { countOf, fieldAt, listOf, objectOf, textOf, type JsonObject } from '../json.ts'
import { faultOfMetadata } from '../record/fault-of-metadata.ts'
import { usageOf } from '../usage.ts'
import type { ChatMessage } from './chat-messages.ts'
import { listUnder, unpacked } from './nested-attributes.ts'
import type { Attributes, Span } from './read-spans.ts'
import { firstOf, kindOfSpan, spanFields, spanParameters, spanTokens } from './span-fields.ts'
import { answerOf, promptOf } from './span-messages.ts'

/** Ingest's limit of labels. */
const maxLabelUnits = 256
const maxProviderUnits = 64
const maxErrorUnits = 8_192

/** What other spans of a trace say of all of it. */
export interface TraceLabels {
  session_id?: string
  user_id?: string
}

/** Labels of the traces in one request: instrumentations set them on the outermost span alone. */
export function labelsOfTraces(spans: readonly Span[]): ReadonlyMap<string, TraceLabels> {
  const traces = new Map<string, TraceLabels>()
  for (const { traceId, attributes } of spans)
    for (const name of ['session_id', 'user_id'] as const) {
      const said = labelOf(firstOf(attributes, spanFields[name]))
      if (said === undefined) continue
      const known = traces.get(traceId) ?? {}
      known[name] ??= said
      traces.set(traceId, known)
    }
  return traces
}

/**
 * The spans of models and tools. Of two spans of a model, one inside the other, the inner one is dropped: two
 * instrumentations trace the same call, such as a framework's and its client's.
 */
export function spansOfCalls(spans: readonly Span[]): Span[] {
  const calls = spans.filter((span) => kindOfSpan(span) !== null)
  const models = new Set(calls.filter((span) => kindOfSpan(span) === 'model').map(placeOf))
  return calls.filter((span) => {
    const parent = span.parentSpanId === null ? undefined : placeOf({ ...span, spanId: span.parentSpanId })
    return kindOfSpan(span) !== 'model' || parent === undefined || !models.has(parent)
  })
}

const placeOf = ({ traceId, spanId }: Pick<Span, 'traceId' | 'spanId'>) => `${traceId}/${spanId}`

/**
 * The record of a span, as `POST /internal/log` takes it; null for a span of neither a model nor a tool. The
 * identifier has the span's start and 74 hashed bits of project, trace and span: a span that is sent again is
 * the same record. Words that the instrumentation left out make a body that says `truncated`: not read, and
 * never safe.
 */
export function recordOfSpan(span: Span, projectId: string, trace: TraceLabels = {}): JsonObject | null {
  const kind = kindOfSpan(span)
  if (kind === null) return null
  const { traceId, spanId, attributes } = span
  const label = (name: keyof typeof spanFields) => labelOf(firstOf(attributes, spanFields[name]))
  return withoutNulls({
    id: hashedId('request', Math.floor(span.startMs), ['otel', projectId, traceId, spanId]),
    source: 'otel',
    agent_name: label('agent_name') ?? serviceOf(span),
    session_id: label('session_id') ?? trace.session_id ?? traceId,
    user_id: label('user_id') ?? trace.user_id,
    latency_ms: Math.max(0, Math.round((span.endMs - span.startMs) * 1_000) / 1_000),
    time_to_first_token_ms: firstTokenMs(span),
    status_code: statusOf(attributes),
    error: errorOf(span),
    metadata: metadataOf(span),
    ...(kind === 'tool'
      ? toolCall(span)
      : modelCall(span, label('model') ?? invokedModel(attributes), label('provider'))),
  })
}

/** `unknown_service:python` says that nobody named the service. */
function serviceOf({ resource }: Span): string | undefined {
  const name = labelOf(resource.get('service.name'))
  return name?.startsWith('unknown_service') === true ? undefined : name
}

function firstTokenMs({ attributes, startMs }: Span): number | undefined {
  const given = attributes.get('ai.response.msToFirstChunk')
  const firstAt = textOf(attributes.get('langfuse.observation.completion_start_time')) ?? ''
  const ms = typeof given === 'number' ? given : Date.parse(firstAt.replaceAll('"', '')) - startMs
  return Number.isFinite(ms) && ms >= 0 ? Math.round(ms * 1_000) / 1_000 : undefined
}

function modelCall(span: Span, model: string | undefined, provider: string | undefined): JsonObject {
  const { attributes } = span
  const [messages, answers] = [promptOf(span), answerOf(span)]
  const parameters = Object.entries(spanParameters).map(([name, names]) => [name, firstOf(attributes, names)])
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
    request_body: messages.length === 0 ? { ...asked, truncated: true } : { ...asked, messages },
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
  if (answers.length === 0)
    return span.error !== null || isEmbedding(span.attributes) ? null : { model, truncated: true }
  const reasons = listOf(unpacked(span.attributes.get('gen_ai.response.finish_reasons')))
  const choices = answers.map((message, index) => ({ index, message, finish_reason: reasons[index] ?? null }))
  const id = textOf(firstOf(span.attributes, ['gen_ai.response.id', 'ai.response.id']))
  return withoutNulls({ id, object: 'chat.completion', model, choices })
}

function isEmbedding(attributes: Attributes): boolean {
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
  return flat.length > 0 ? flat : undefined
}

/** Disjoint: what conventions count as part of the prompt or the answer is taken off. */
function tokensOf(attributes: Attributes): JsonObject {
  const usage = objectOf(unpacked(attributes.get('langfuse.observation.usage_details')))
  if (usage !== undefined) return langfuseTokens(usage)
  const count = (name: keyof typeof spanTokens) =>
    countOf(Number(firstOf(attributes, spanTokens[name]) ?? NaN))
  const [prompt, completion, cached, written, reasoning] = [
    count('prompt'),
    count('completion'),
    count('cached'),
    count('written'),
    count('reasoning'),
  ]
  return {
    prompt_tokens: less(prompt, cached),
    cached_tokens: prompt === undefined ? undefined : cached,
    cache_write_tokens: prompt === undefined ? undefined : written,
    completion_tokens: less(completion, reasoning),
    reasoning_tokens: completion === undefined ? undefined : reasoning,
  }
}

/** Langfuse's kinds of usage exclude each other, unless they are a provider's own. */
function langfuseTokens(usage: JsonObject): JsonObject {
  if (usage['input'] === undefined && usage['output'] === undefined) {
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = usageOf({ usage })
    return withoutNulls({
      prompt_tokens: promptTokens,
      cached_tokens: cachedTokens,
      completion_tokens: completionTokens,
      reasoning_tokens: reasoningTokens,
    })
  }
  const count = (...names: string[]) =>
    names.map((name) => countOf(usage[name])).find((one) => one !== undefined)
  return {
    prompt_tokens: count('input'),
    cached_tokens: count('input_cached_tokens', 'cache_read_input_tokens', 'input_cache_read'),
    completion_tokens: count('output'),
    reasoning_tokens: count('output_reasoning_tokens', 'output_reasoning'),
  }
}

function less(whole: number | undefined, part: number | undefined): number | undefined {
  return whole === undefined ? undefined : Math.max(0, whole - (part ?? 0))
}

function costOf(attributes: Attributes): JsonObject {
  const details = objectOf(unpacked(attributes.get('langfuse.observation.cost_details')))
  const stated = Number(
    details?.['total'] ?? attributes.get('gen_ai.usage.cost') ?? attributes.get('llm.cost.total') ?? NaN,
  )
  return Number.isFinite(stated) && stated >= 0 ? { cost_usd: stated } : {}
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

function statusOf(attributes: Attributes): number | undefined {
  return spanFields.status_code
    .map((name) => Number(attributes.get(name) ?? NaN))
    .find((code) => Number.isInteger(code) && code >= 100 && code <= 599)
}

function errorOf({ error, attributes }: Span): string | undefined {
  if (error === null) return undefined
  const type = textOf(attributes.get('error.type'))
  return storable(error || (type ?? 'the span failed')).slice(0, maxErrorUnits)
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
  const said = objectOf(unpacked(attributes.get('metadata'))) ?? {}
  const own = [...attributes].flatMap(([name, value]) => {
    const prefix = metadataPrefixes.find((one) => name.startsWith(one))
    return prefix === undefined ? [] : [[name.slice(prefix.length), value] as const]
  })
  const all = { ...said, ...Object.fromEntries(own), ...place }
  return faultOfMetadata(all) === undefined ? all : place
}

function labelOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== ''
    ? storable(value).slice(0, maxLabelUnits).toWellFormed()
    : undefined
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD')
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
