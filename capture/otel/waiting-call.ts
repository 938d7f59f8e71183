import { hash } from 'node:crypto'
import { fieldAt, listOf, type JsonObject } from '../json.ts'
import type { CallLog } from './read-logs.ts'
import type { Span, SpanEvent } from './read-spans.ts'
import { firstOf } from './span-fields.ts'
import { kindOfSpan } from './span-kind.ts'
import { answerOf, promptOf, wholeEvent } from './span-messages.ts'
import { isEmbedding, recordOfSpan } from './span-record.ts'
import type { CallLabels } from './spans-of-calls.ts'

type Entries = readonly (readonly [string, unknown])[]

interface EventForm extends Omit<SpanEvent, 'attributes'> {
  attributes: Entries
}

/** A span as JSON. */
interface SpanForm extends Omit<Span, 'attributes' | 'events' | 'resource'> {
  attributes: Entries
  events: readonly EventForm[]
  resource: Entries
}

interface PlacedLog extends CallLog {
  /** Among those of one export: clocks may give several the same time. */
  place: number
}

/** What came of a call whose words are log records: JSON. */
export interface WaitingCall {
  /** Null: not yet. */
  span: { form: SpanForm; labels: CallLabels } | null
  logs: readonly PlacedLog[]
  /** Whether words were left out for a limit. */
  truncated: boolean
}

const conventions = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.system']

/**
 * Whether the words of a call may come as log records: its span is of the GenAI conventions, and the record
 * of it has none. No version of them has events of embeddings.
 */
export function awaitsWords(span: Span, record: JsonObject): boolean {
  return (
    fieldAt(record, 'request_body', 'messages') === undefined &&
    listOf(fieldAt(record, 'response_body', 'choices')).length === 0 &&
    firstOf(span.attributes, conventions) !== undefined &&
    kindOfSpan(span) === 'model' &&
    !isEmbedding(span.attributes)
  )
}

/** The span of a call that waits for its words. */
export function waitingSpan(span: Span, labels: CallLabels): WaitingCall {
  const form = {
    ...span,
    attributes: [...span.attributes],
    events: span.events.map(({ attributes, ...event }) => ({ ...event, attributes: [...attributes] })),
    resource: [...span.resource],
  }
  return { span: { form, labels }, logs: [], truncated: false }
}

/** Words of a call whose span may come. */
export function waitingLogs(logs: readonly CallLog[]): WaitingCall {
  return { span: null, logs: ordered(logs.map((log, place) => ({ ...log, place }))), truncated: false }
}

/**
 * Both together. The same parts give the same call in any order and however often they come; of two spans the
 * first stays.
 */
export function joinCalls(one: WaitingCall, other: WaitingCall): WaitingCall {
  const logs = new Map<string, PlacedLog>()
  for (const [key, log] of [...numbered(one.logs), ...numbered(other.logs)]) {
    const place = Math.min(log.place, logs.get(key)?.place ?? Infinity)
    logs.set(key, { ...log, place })
  }
  return {
    span: one.span ?? other.span,
    logs: ordered([...logs.values()]),
    truncated: one.truncated || other.truncated,
  }
}

/** Each under a key of its own. Equal ones of one sender are numbered: a question may be asked twice. */
function numbered(logs: readonly PlacedLog[]): [string, PlacedLog][] {
  const times = new Map<string, number>()
  return logs.map((log) => {
    const digest = digestOf(log)
    const nth = times.get(digest) ?? 0
    times.set(digest, nth + 1)
    return [`${nth} ${digest}`, log]
  })
}

function ordered(logs: readonly PlacedLog[]): PlacedLog[] {
  const keyed = logs.map((log) => ({
    log,
    key: `${log.time} ${String(log.place).padStart(7, '0')} ${digestOf(log)}`,
  }))
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ log }) => log)
}

const digestOf = ({ time, name, attributes }: CallLog) =>
  hash('sha256', JSON.stringify([time, name, attributes]))

/**
 * How much of a call is there. `whole`: all of it. `settling`: words of both sides, each message by itself:
 * more may be on their way. `open`: less.
 */
export function progressOf(call: WaitingCall): 'open' | 'settling' | 'whole' {
  if (call.span === null) return 'open'
  const span = spanWithWords(call.span.form, call.logs)
  const isAnswered = answerOf(span).length > 0 || span.error !== null
  if (promptOf(span).length === 0 || !isAnswered) return 'open'
  return call.logs.some(({ name }) => name === wholeEvent) ? 'whole' : 'settling'
}

/** The record of a call with the words that came; null without its span. */
export function recordOfCall({ span, logs, truncated }: WaitingCall, projectId: string): JsonObject | null {
  if (span === null) return null
  const record = recordOfSpan(spanWithWords(span.form, logs), projectId, span.labels)
  if (record === null || !truncated) return record
  const marked = (body: unknown) =>
    typeof body === 'object' && body !== null ? { ...body, truncated } : body
  return {
    ...record,
    request_body: marked(record['request_body']),
    response_body: marked(record['response_body']),
  }
}

function spanWithWords(form: SpanForm, logs: readonly CallLog[]): Span {
  const withAttributes = ({ attributes, ...event }: EventForm): SpanEvent => ({
    ...event,
    attributes: new Map(attributes),
  })
  return {
    ...form,
    attributes: new Map(form.attributes),
    events: [...form.events, ...logs.map(({ name, attributes }) => ({ name, attributes }))].map(
      withAttributes,
    ),
    resource: new Map(form.resource),
  }
}
