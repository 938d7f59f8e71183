import { fieldAt, listOf, objectOf, textOf } from '../json.ts'

/** Attributes by name: text, numbers, booleans, lists and objects. */
export type Attributes = ReadonlyMap<string, unknown>

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
  events: readonly { name: string; attributes: Attributes }[]
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

const traceIdForm = /^(?!0+$)[0-9a-f]{32}$/
const spanIdForm = /^(?!0+$)[0-9a-f]{16}$/

function readSpan(given: unknown, resource: Attributes, scope: string): ReadSpan {
  const [traceId, spanId] = [idAt(given, 'traceId'), idAt(given, 'spanId')]
  if (!traceIdForm.test(traceId)) return { fault: 'traceId must be 32 hex digits, not all zero' }
  if (!spanIdForm.test(spanId)) return { fault: 'spanId must be 16 hex digits, not all zero' }
  const startMs = millisecondsAt(given, 'startTimeUnixNano')
  if (startMs === undefined) return { fault: 'startTimeUnixNano must be a number of nanoseconds' }
  const parent = idAt(given, 'parentSpanId')
  const events = listOf(fieldAt(given, 'events')).map((event) => ({
    name: textOf(fieldAt(event, 'name')) ?? '',
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
      attributes: attributesOf(given),
      events,
      error: errorOf(given, events),
      resource,
      scope,
    },
  }
}

function idAt(span: unknown, name: string): string {
  return (textOf(fieldAt(span, name)) ?? '').toLowerCase()
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

function attributesOf(owner: unknown): Attributes {
  const attributes = new Map<string, unknown>()
  for (const { key, value } of pairsOf(fieldAt(owner, 'attributes'))) attributes.set(key, plainOf(value, 0))
  return attributes
}

function pairsOf(list: unknown): { key: string; value: unknown }[] {
  return listOf(list).flatMap((pair) => {
    const key = textOf(fieldAt(pair, 'key'))
    return key === undefined ? [] : [{ key, value: fieldAt(pair, 'value') }]
  })
}

/** Values of messages are nested five deep at most. */
const maxDepth = 32

/** An AnyValue as JSON has it. Integers beyond 2^53 stay text; null for what is nested too deeply. */
function plainOf(value: unknown, depth: number): unknown {
  const any = objectOf(value)
  if (any === undefined || depth > maxDepth) return null
  const { intValue } = any
  if (typeof intValue === 'string' || typeof intValue === 'number') {
    const number = Number(intValue)
    return Number.isSafeInteger(number) ? number : String(intValue)
  }
  if (any['arrayValue'] !== undefined)
    return listOf(fieldAt(any, 'arrayValue', 'values')).map((one) => plainOf(one, depth + 1))
  if (any['kvlistValue'] !== undefined)
    return Object.fromEntries(
      pairsOf(fieldAt(any, 'kvlistValue', 'values')).map(({ key, value: one }) => [
        key,
        plainOf(one, depth + 1),
      ]),
    )
  return any['stringValue'] ?? any['boolValue'] ?? any['doubleValue'] ?? any['bytesValue'] ?? null
}
