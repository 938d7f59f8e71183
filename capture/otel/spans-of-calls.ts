import type { Span } from './read-spans.ts'
import { firstOf, spanFields } from './span-fields.ts'
import { kindOfSpan } from './span-kind.ts'
import { labelOf } from './span-labels.ts'

/** What other spans of a request say of a call: of its trace, and the agent's around it. */
export interface CallLabels {
  session_id?: string
  user_id?: string
  agent_name?: string
}

/** Agents and their steps are nested some ten deep. */
const maxDepth = 64

/**
 * Labels that instrumentations set on other spans than the call's: session and user on any span of the trace,
 * the agent on the nearest span around the call.
 */
export function labelsOfCalls(spans: readonly Span[]): (call: Span) => CallLabels {
  const traces = new Map<string, CallLabels>()
  const places = new Map<string, Span>()
  for (const span of spans) {
    places.set(placeOf(span), span)
    for (const name of ['session_id', 'user_id'] as const) {
      const said = labelOf(firstOf(span.attributes, spanFields[name]))
      if (said === undefined) continue
      const known = traces.get(span.traceId) ?? {}
      known[name] ??= said
      traces.set(span.traceId, known)
    }
  }
  return (call) => {
    const agent = agentAround(call, places)
    return { ...traces.get(call.traceId), ...(agent !== undefined && { agent_name: agent }) }
  }
}

function agentAround(call: Span, places: ReadonlyMap<string, Span>): string | undefined {
  let span: Span | undefined = call
  for (let depth = 0; span !== undefined && depth < maxDepth; depth += 1) {
    const said = labelOf(firstOf(span.attributes, spanFields.agent_name))
    if (said !== undefined) return said
    span = places.get(parentPlaceOf(span) ?? '')
  }
  return undefined
}

/**
 * The spans of models and tools. Of two spans of the same model call, one inside the other, the inner one is
 * dropped: two instrumentations trace it, such as a framework's and its client's. Inside is a child, or a
 * span of another instrumentation with the same answer's identifier and times within.
 */
export function spansOfCalls(spans: readonly Span[]): Span[] {
  const calls = spans.filter((span) => kindOfSpan(span) !== null)
  const models = calls.filter((span) => kindOfSpan(span) === 'model')
  const places = new Set(models.map(placeOf))
  const answers = Map.groupBy(models, answerIdOf)
  return calls.filter((span) => {
    if (kindOfSpan(span) !== 'model') return true
    const parent = parentPlaceOf(span)
    if (parent !== undefined && places.has(parent)) return false
    const id = answerIdOf(span)
    const others = id === undefined ? [] : (answers.get(id) ?? [])
    return others.length > maxTraced || !others.some((other) => isInside(span, other))
  })
}

/** More spans with one identifier are of a server that gives the same to all. */
const maxTraced = 8

/** The API's own, such as `chatcmpl-…`, which both instrumentations read from the answer. */
function answerIdOf({ attributes }: Span): string | undefined {
  return labelOf(attributes.get('gen_ai.response.id'))
}

function isInside(inner: Span, outer: Span): boolean {
  const isWithin = outer.startMs <= inner.startMs && inner.endMs <= outer.endMs
  const isSame = outer.startMs === inner.startMs && inner.endMs === outer.endMs
  return outer.scope !== inner.scope && isWithin && !isSame
}

function placeOf({ traceId, spanId }: Pick<Span, 'traceId' | 'spanId'>): string {
  return `${traceId}/${spanId}`
}

function parentPlaceOf({ traceId, parentSpanId }: Span): string | undefined {
  return parentSpanId === null ? undefined : placeOf({ traceId, spanId: parentSpanId })
}
