import { fieldAt, listOf, textOf } from '../json.ts'
import { attributesOf, idAt, spanIdForm, traceIdForm, type Attributes } from './otlp-values.ts'

/** An event of a span. */
export interface SpanEvent {
  name: string
  /** Unix milliseconds; undefined for words that came as log records. */
  atMs?: number
  attributes: Attributes
}

/** A span as all conventions see it. */
export interface Span {
  /** 32 and 16 lower-case hex digits. */
  traceId: string
  spanId: string
  parentSpanId: string | null
  name: string
  /** Unix milliseconds, with fractions. */
  startMs: number
  endMs: number
  attributes: Attributes
  events: readonly SpanEvent[]
  /** Null: the span did not fail. Empty: it failed and nothing says why. */
  error: string | null
  resource: Attributes
  /** The instrumentation that made it. */
  scope: string
}

/** A span, or what is wrong with it. */
export type ReadSpan = { span: Span } | { fault: string }

/**
 * The spans of an export request in OTLP's JSON form. A span that cannot be read does not stop the others.
 */
export function* readSpans(request: unknown): Generator<ReadSpan> {
  for (const ofResource of listOf(fieldAt(request, 'resourceSpans'))) {
    const resource = attributesOf(fieldAt(ofResource, 'resource'))
    for (const ofScope of listOf(fieldAt(ofResource, 'scopeSpans'))) {
      const scope = textOf(fieldAt(ofScope, 'scope', 'name')) ?? ''
      for (const span of listOf(fieldAt(ofScope, 'spans'))) yield readSpan(span, resource, scope)
    }
  }
}

function readSpan(given: unknown, resource: Attributes, scope: string): ReadSpan {
  const [traceId, spanId] = [idAt(given, 'traceId'), idAt(given, 'spanId')]
  if (!traceIdForm.test(traceId)) return { fault: 'traceId must be 32 hex digits, not all zero' }
  if (!spanIdForm.test(spanId)) return { fault: 'spanId must be 16 hex digits, not all zero' }
  const startMs = millisecondsAt(given, 'startTimeUnixNano')
  if (startMs === undefined) return { fault: 'startTimeUnixNano must be a number of nanoseconds' }
  const parent = idAt(given, 'parentSpanId')
  const attributes = attributesOf(given)
  const events = listOf(fieldAt(given, 'events')).map((event) => ({
    name: textOf(fieldAt(event, 'name')) ?? '',
    atMs: millisecondsAt(event, 'timeUnixNano') ?? startMs,
    attributes: attributesOf(event),
  }))
  return {
    span: {
      traceId,
      spanId,
      parentSpanId: spanIdForm.test(parent) ? parent : null,
      name: textOf(fieldAt(given, 'name')) ?? '',
      startMs,
      endMs: millisecondsAt(given, 'endTimeUnixNano') ?? startMs,
      attributes,
      events,
      error: errorOf(given, events) ?? langfuseError(attributes),
      resource,
      scope,
    },
  }
}

function millisecondsAt(span: unknown, name: string): number | undefined {
  const given = fieldAt(span, name)
  if (typeof given !== 'number' && (typeof given !== 'string' || !/^\d{1,20}$/.test(given))) return undefined
  const ms = Number(given) / 1e6
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

/** The status ERROR is 2; some JSON exporters write its name. */
function errorOf(span: unknown, events: Span['events']): string | null {
  const code = fieldAt(span, 'status', 'code')
  if (code !== 2 && code !== 'STATUS_CODE_ERROR') return null
  const thrown = events.find(({ name }) => name === 'exception')?.attributes
  const said = textOf(fieldAt(span, 'status', 'message')) ?? textOf(thrown?.get('exception.message'))
  return said ?? textOf(thrown?.get('exception.type')) ?? ''
}

/** Langfuse states failures by its own level alone. */
function langfuseError(attributes: Attributes): string | null {
  if (attributes.get('langfuse.observation.level') !== 'ERROR') return null
  return textOf(attributes.get('langfuse.observation.status_message')) ?? ''
}
