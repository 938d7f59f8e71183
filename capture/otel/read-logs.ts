import { fieldAt, listOf, objectOf, textOf } from '../json.ts'
import { unpacked } from './nested-attributes.ts'
import { attributesOf, idAt, plainOf, spanIdForm, traceIdForm } from './otlp-values.ts'
import { isWordsEvent } from './span-messages.ts'

/** A log record with words of a call. It is an event of the call's span that came by itself. */
export interface CallLog {
  name: string
  /** Unix nanoseconds in 20 digits. */
  time: string
  /** With the members of the body. */
  attributes: readonly (readonly [name: string, value: unknown])[]
}

/** A log record with words of a call; what is wrong with it; or null: it has none. */
export type ReadLog = { traceId: string; spanId: string; log: CallLog } | { fault: string } | null

/** The log records of an export request in OTLP's JSON form. */
export function* readLogs(request: unknown): Generator<ReadLog> {
  for (const ofResource of listOf(fieldAt(request, 'resourceLogs')))
    for (const ofScope of listOf(fieldAt(ofResource, 'scopeLogs')))
      for (const log of listOf(fieldAt(ofScope, 'logRecords'))) yield readLog(log)
}

function readLog(given: unknown): ReadLog {
  const attributes = attributesOf(given)
  // Before 1.5 of the protocol the name was an attribute.
  const name = textOf(fieldAt(given, 'eventName')) ?? textOf(attributes.get('event.name')) ?? ''
  if (!isWordsEvent(name)) return null
  const [traceId, spanId] = [idAt(given, 'traceId'), idAt(given, 'spanId')]
  if (!traceIdForm.test(traceId) || !spanIdForm.test(spanId))
    return { fault: `traceId and spanId of ${name} must name its span` }
  const body = unpacked(plainOf(fieldAt(given, 'body')))
  const members = objectOf(body) ?? (body === null || body === '' ? {} : { content: body })
  const log = { name, time: timeOf(given), attributes: [...attributes, ...Object.entries(members)] }
  return { traceId, spanId, log }
}

/** Exporters leave out the time of an event that was recorded as it happened. */
function timeOf(given: unknown): string {
  const times = [fieldAt(given, 'timeUnixNano'), fieldAt(given, 'observedTimeUnixNano')]
  const digits = times.map((time) => (typeof time === 'number' ? String(time) : (textOf(time) ?? '')))
  return (digits.find((time) => /^\d{1,20}$/.test(time) && /[1-9]/.test(time)) ?? '').padStart(20, '0')
}
