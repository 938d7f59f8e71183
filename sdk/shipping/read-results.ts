import { fieldAt, listOf, objectOf, parseJson, textOf } from '../../capture/json.ts'
import type { PostAnswer } from './post-json.ts'

/** What became of one record of a batch. */
export type RecordDisposition =
  | { kind: 'stored' }
  /** `isFault`: the API fails, and it may be the record's doing. */
  | { kind: 'again'; isFault: boolean }
  /** Over the project's quota: a resend would be refused too. */
  | { kind: 'over_quota' }
  | { kind: 'refused'; detail: string }

/** What the answer means for the batch as a whole, or for each record of it. */
export type BatchDisposition =
  | { kind: 'results'; dispositions: readonly RecordDisposition[] }
  /** Nothing was taken; later it may be. */
  | { kind: 'again'; afterMs: number | undefined; detail: string; isFault: boolean }
  /** Nothing was taken, for what one of the records holds or for what all have in common: it is not said. */
  | { kind: 'refused'; detail: string }
  /** The key or the address is wrong: somebody has to act first. */
  | { kind: 'stop'; detail: string }
  | { kind: 'over_quota'; afterMs: number | undefined; detail: string }
  | { kind: 'too_large' }

/** Of the key or the address, whatever is sent; 407 is a proxy's. */
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
    detail: 'an answer that is no list of results',
    isFault: true,
  }
}

/** Of the record itself, in the API's own words: what stands before it answers with a page. */
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
  // Another 429 is of something on the way, and says nothing of the project.
  if (status === 429 && fieldAt(body, 'code') === quotaCode)
    return { kind: 'over_quota', afterMs: retryAfterMs, detail }
  if (stopStatuses.has(status)) return { kind: 'stop', detail }
  // With a code it is the API's own word on the key; without, of a firewall on what a record holds.
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
