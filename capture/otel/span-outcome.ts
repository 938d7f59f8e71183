import { textOf } from '../json.ts'
import type { Span } from './read-spans.ts'
import {
  firstOf,
  firstTokenEvent,
  firstTokenMilliseconds,
  firstTokenSeconds,
  spanFields,
} from './span-fields.ts'
import { storable } from './span-labels.ts'

const maxErrorUnits = 8_192

/** Milliseconds from the start to the first token; undefined where nothing says so. */
export function firstTokenMs({ attributes, events, startMs }: Span): number | undefined {
  const [given, seconds] = [
    firstOf(attributes, firstTokenMilliseconds),
    firstOf(attributes, firstTokenSeconds),
  ]
  const firstAt = textOf(attributes.get('langfuse.observation.completion_start_time')) ?? ''
  const event = events.find(({ name }) => name === firstTokenEvent)
  const ms =
    typeof given === 'number'
      ? given
      : typeof seconds === 'number'
        ? seconds * 1_000
        : event?.atMs !== undefined
          ? event.atMs - startMs
          : Date.parse(firstAt.replaceAll('"', '')) - startMs
  return Number.isFinite(ms) && ms >= 0 ? rounded(ms) : undefined
}

/** To microseconds. */
export const rounded = (ms: number) => Math.round(ms * 1_000) / 1_000

/** Clients of Python and of JavaScript write the status into their errors. */
const statusInError = /\bError code: ([45]\d\d)\b|^(?:\w*Error: )?([45]\d\d) /

/** The status of the answer; undefined where nothing says so. */
export function statusOf({ attributes, error }: Span): number | undefined {
  const [, python, javascript] = statusInError.exec(error ?? '') ?? []
  return [...spanFields.status_code.map((name) => attributes.get(name)), python, javascript]
    .map((given) => Number(given ?? NaN))
    .find((code) => Number.isInteger(code) && code >= 100 && code <= 599)
}

/** What failed; undefined for a span that did not. */
export function errorOf({ error, attributes }: Span): string | undefined {
  if (error === null) return undefined
  const type = textOf(attributes.get('error.type'))
  return storable(error || (type ?? 'the span failed')).slice(0, maxErrorUnits)
}
