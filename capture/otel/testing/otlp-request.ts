/** An export request in OTLP's JSON form with one span for each set of attributes. */
export interface GivenSpan {
  name?: string
  traceId?: string
  spanId?: string
  parentSpanId?: string
  startMs?: number
  durationMs?: number
  attributes?: Readonly<Record<string, unknown>>
  /** `afterMs`: since the start. */
  events?: readonly { name: string; attributes: Readonly<Record<string, unknown>>; afterMs?: number }[]
  status?: { code: number; message?: string }
}

const traceId = '0af7651916cd43dd8448eb211c80319c'

export function otlpRequest(spans: readonly GivenSpan[]): unknown {
  return {
    resourceSpans: [
      {
        resource: { attributes: pairs({ 'service.name': 'web-shop' }) },
        scopeSpans: [{ scope: { name: 'test-scope' }, spans: spans.map(spanOf) }],
      },
    ],
  }
}

/** A log record of a span; `body` and `attributes` as the GenAI conventions have them. */
export interface GivenLog {
  eventName: string
  traceId?: string
  spanId?: string
  timeNs?: string
  body?: unknown
  attributes?: Readonly<Record<string, unknown>>
}

/** An export request in OTLP's JSON form. Records without a time are in their order. */
export function otlpLogs(logs: readonly GivenLog[]): unknown {
  const logRecords = logs.map(({ eventName, body, attributes = {}, ...given }, index) => ({
    eventName,
    traceId: given.traceId ?? traceId,
    spanId: given.spanId ?? '0000000000000001',
    observedTimeUnixNano: given.timeNs ?? String(1_790_000_000_000_000_000n + BigInt(index)),
    ...(body !== undefined && { body: anyValue(body) }),
    attributes: pairs(attributes),
  }))
  return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }
}

function spanOf(given: GivenSpan, index: number): object {
  const startMs = given.startMs ?? Date.now()
  return {
    traceId: given.traceId ?? traceId,
    spanId: given.spanId ?? (index + 1).toString(16).padStart(16, '0'),
    parentSpanId: given.parentSpanId ?? '',
    name: given.name ?? 'chat model-1',
    startTimeUnixNano: `${startMs}000000`,
    endTimeUnixNano: `${startMs + (given.durationMs ?? 250)}000000`,
    attributes: pairs(given.attributes ?? {}),
    events: (given.events ?? []).map(({ name, attributes, afterMs = 0 }) => ({
      name,
      attributes: pairs(attributes),
      timeUnixNano: `${startMs + afterMs}000000`,
    })),
    ...(given.status !== undefined && { status: given.status }),
  }
}

function pairs(values: Readonly<Record<string, unknown>>): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  return { kvlistValue: { values: pairs(value as Record<string, unknown>) } }
}
