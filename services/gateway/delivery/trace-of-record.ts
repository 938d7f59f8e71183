import { objectOf, parseJson } from '#capture/json.ts'
import { traceContextOf, type TraceContext } from '#runtime/tracing/tracing.ts'

const context =
  /^\{"id":"[^"]{1,64}",(?:"project_id":"[^"]{1,64}",)?("traceparent":"[^"]{55}"(?:,"tracestate":"(?:[^"\\]|\\.){1,1024}")?)/
/** Identifiers, and a context whose every character may be escaped. */
const headBytes = 1_300

/**
 * The trace that a record goes on, undefined without one. It is at the start (recording/build-record.ts), so
 * the bodies need no parsing.
 */
export function traceOfRecord(record: Buffer): TraceContext | undefined {
  const members = context.exec(record.toString('latin1', 0, headBytes))?.[1]
  const headers = members === undefined ? undefined : objectOf(parseJson(`{${members}}`))
  return headers && traceContextOf(headers)
}
