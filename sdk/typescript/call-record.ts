import type { CallRecord } from './types.ts'

/** A record whose bodies are still the original JSON text. */
export type RawRecord = Omit<CallRecord, 'request_body' | 'response_body'> & {
  requestJson: string
  responseJson: string | undefined
}

/** The record as JSON text. Bodies are copied unchanged, so that large integers keep their digits. */
export function recordJson({ requestJson, responseJson, ...fields }: RawRecord): string {
  const head = JSON.stringify(fields).slice(0, -1)
  const response = responseJson === undefined ? '' : `,"response_body":${responseJson}`
  return `${head},"request_body":${requestJson}${response}}`
}

/** The record as an object. */
export function recordOf(raw: RawRecord): CallRecord {
  return JSON.parse(recordJson(raw)) as CallRecord
}

/**
 * The record as returned by `change`; undefined if that returns none. Unchanged bodies keep their original
 * text.
 */
export function changedRecord(
  raw: RawRecord,
  change: (record: CallRecord) => CallRecord | null | undefined,
): RawRecord | undefined {
  const record = recordOf(raw)
  const [request, response] = [JSON.stringify(record.request_body), JSON.stringify(record.response_body)]
  const kept = change(record)
  if (kept === null || kept === undefined) return undefined
  refusePromise(kept)
  const { request_body, response_body, ...fields } = kept
  const requestNow = JSON.stringify(request_body) as string | undefined
  // Without request_body the record is invalid, and its whole batch would be rejected.
  if (requestNow === undefined) throw new TypeError('it returned no request_body')
  const responseNow = JSON.stringify(response_body)
  return {
    ...fields,
    id: raw.id,
    requestJson: requestNow === request ? raw.requestJson : requestNow,
    responseJson: responseNow === response ? raw.responseJson : responseNow,
  }
}

function refusePromise(kept: unknown): void {
  if (!(kept instanceof Promise)) return
  // Nobody awaits it: its rejection must not end the program.
  kept.catch(() => undefined)
  throw new TypeError('it returned a promise instead of the record')
}
