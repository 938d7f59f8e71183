/** A W3C trace context, by the names of its headers. It also travels in Kafka's and the gateway's records. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer'

/** Identifiers, topics, partitions, counts and statuses. Never content, keys or values of headers. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>

export interface Span {
  /** Sent along: work under this context is a child of this span. */
  readonly context: TraceContext
  set(attributes: SpanAttributes): void
  /**
   * The context under which work for one of the span's origins goes on: this span's if both are of one trace,
   * else the origin's, which this span only links to.
   */
  parentFor(origin: TraceContext | undefined): TraceContext
  /** With an error or a code, the span has failed. Of an error only its code or class is exported. */
  end(error?: unknown): void
}

/** Sluice's own traces. Absent where they are off. */
export interface Tracing {
  /**
   * Starts a span. Its parent is its only origin; of several it is a new trace that links to the first of
   * them.
   */
  start(
    name: string,
    kind: SpanKind,
    origins: readonly (TraceContext | undefined)[],
    attributes?: SpanAttributes,
  ): Span
  /** Exports what is waiting, for at most `withinMs`. Never rejects. */
  close(withinMs: number): Promise<void>
}

const parentForm = /^(?!ff)([\da-f]{2})-((?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2})(-.*)?$/
/** The least that the W3C asks to propagate; a longer one may be dropped. */
const maxStateLength = 512
const stateForm = /^[\x20-\x7e]+$/

/** Reads `traceparent` and `tracestate`, by lower-case names. An invalid context is none, as the W3C says. */
export function traceContextOf(headers: Readonly<Record<string, unknown>>): TraceContext | undefined {
  const { traceparent, tracestate } = headers
  if (typeof traceparent !== 'string') return undefined
  const [, version, ids, rest] = parentForm.exec(traceparent) ?? []
  // Later versions may append fields; only their first ones are known.
  if (ids === undefined || (version === '00' && rest !== undefined)) return undefined
  const isKept =
    typeof tracestate === 'string' && tracestate.length <= maxStateLength && stateForm.test(tracestate)
  return { traceparent: `00-${ids}`, ...(isKept && { tracestate }) }
}

/** Whether two contexts are of one trace. */
export function isSameTrace(one: TraceContext, other: TraceContext): boolean {
  return one.traceparent.slice(3, 35) === other.traceparent.slice(3, 35)
}
