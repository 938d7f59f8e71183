import { fieldAt, listOf, objectOf, parseJson, textOf } from '../../../capture/json.ts'
import type { PostAnswer } from './post-json.ts'

/** The API's decision on one record of a batch. */
export type RecordDisposition =
  | { kind: 'stored' }
  /** `isFault`: the record may cause the API's failure. */
  | { kind: 'again'; isFault: boolean }
  /** The project has used up its quota: a retry would fail too. */
  | { kind: 'over_quota' }
  | { kind: 'refused'; detail: string }

/** The meaning of an answer for the whole batch, or for each of its records. */
export type BatchDisposition =
  | { kind: 'results'; dispositions: readonly RecordDisposition[] }
  /** Nothing was accepted now; retry later. */
  | { kind: 'again'; afterMs: number | undefined; detail: string; isFault: boolean }
  /** Nothing was accepted, because of one record or of all; the answer does not say. */
  | { kind: 'refused'; detail: string }
  /** Wrong key or address: an operator must act. */
  | { kind: 'stop'; detail: string }
  | { kind: 'over_quota'; afterMs: number | undefined; detail: string }
  | { kind: 'too_large' }

/** These depend on the key or address, never on a record. 407 comes from a proxy. */
const stopStatuses = new Set([401, 404, 405, 407])
const quotaCode = 'INGEST_QUOTA_EXCEEDED'

/** Reads the answer to `POST /internal/log/batch`. */
export function batchDisposition(answer: PostAnswer, recordCount: number): BatchDisposition {
  if (answer.status !== 200) return wholeDisposition(answer)
  const results = listOf(fieldAt(parseJson(answer.text), 'results'))
  if (results.length === recordCount) return { kind: 'results', dispositions: results.map(recordDisposition) }
  return {
    kind: 'again',
    afterMs: undefined,
    detail: 'the answer is not a list of results',
    isFault: true,
  }
}

/** Statuses of the record itself, if the API's error format follows. A firewall answers with a page. */
const refusedStatuses = new Set([400, 422])

/** Reads the answer to `POST /internal/log`. */
export function aloneDisposition(answer: PostAnswer): BatchDisposition {
  const { status, text } = answer
  const body = parseJson(text)
  const isTaken = status >= 200 && status < 300 && (text === '' || body !== undefined)
  if (isTaken) return { kind: 'results', dispositions: [{ kind: 'stored' }] }
  if (refusedStatuses.has(status) && fieldAt(body, 'detail') !== undefined)
    return { kind: 'results', dispositions: [recordDisposition({ ...objectOf(body), status_code: status })] }
  return wholeDisposition(answer)
}

function wholeDisposition({ status, retryAfterMs, text }: PostAnswer): BatchDisposition {
  const body = parseJson(text)
  const detail = textOf(fieldAt(body, 'detail')) ?? `HTTP ${status}`
  if (status === 413) return { kind: 'too_large' }
  // A 429 without that code comes from something in between, and says nothing about the project.
  if (status === 429 && fieldAt(body, 'code') === quotaCode)
    return { kind: 'over_quota', afterMs: retryAfterMs, detail }
  if (stopStatuses.has(status)) return { kind: 'stop', detail }
  // With a code the API rejects the key; without one, a firewall rejects the content.
  if (status === 403 && textOf(fieldAt(body, 'code')) !== undefined) return { kind: 'stop', detail }
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) return { kind: 'refused', detail }
  return { kind: 'again', afterMs: retryAfterMs, detail, isFault: status === 500 || status < 400 }
}

function recordDisposition(result: unknown): RecordDisposition {
  const status = fieldAt(result, 'status_code')
  if (typeof status !== 'number') return { kind: 'stored' }
  if (status === 429) return { kind: 'over_quota' }
  if (status >= 500) return { kind: 'again', isFault: status === 500 }
  return { kind: 'refused', detail: textOf(fieldAt(result, 'detail')) ?? `HTTP ${status}` }
}
