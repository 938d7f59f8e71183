import type { Dispatcher } from 'undici'
import { z } from 'zod'
import { parseJson } from '#capture/json.ts'
import { codeOf, TransientError } from '#runtime/errors.ts'
import type { TraceContext, Tracing } from '#runtime/tracing/tracing.ts'
import type { Credential } from './credentials.ts'
import { traceOfRecord } from './trace-of-record.ts'

/** The API service's decision on one record. */
export type Verdict =
  | { kind: 'taken' }
  /** The project has used up its quota. */
  | { kind: 'over_quota' }
  /** Never accepted. `status` as in `NotTaken`. */
  | { kind: 'refused'; status: number | null; detail: string }
  /** Not now. `status` is set where the failure may be caused by this record. */
  | { kind: 'later'; status?: number | null }
  /** This gateway has no credential for the record's project. */
  | { kind: 'unsendable' }

/**
 * Posts records (JSON bytes) and returns a verdict for each, in order. Throws TransientError
 * (`BACKEND_UNAVAILABLE`) when the service decided none: no answer, 5xx, or an unknown key.
 */
export type PostRecords = (records: readonly Buffer[]) => Promise<Verdict[]>

export interface PostOptions {
  dispatcher: Dispatcher
  /** Base URL of the API service, without a trailing slash. */
  url: string
  /** Authenticates the gateway. */
  credential: Credential
  tracing?: Tracing | undefined
  now: () => number
}

/** A temporary refusal by the API service, or a broken connection. */
export class NotTaken extends TransientError {
  /** Null: the connection broke. */
  readonly status: number | null
  /** From Retry-After; 0 without one. */
  readonly retryAfterMs: number
  /** Whether the content of a record may be the cause. */
  readonly isFault: boolean

  constructor(
    detail: string,
    { status, retryAfterMs, isFault }: Pick<NotTaken, 'status' | 'retryAfterMs' | 'isFault'>,
    options?: ErrorOptions,
  ) {
    super('BACKEND_UNAVAILABLE', detail, options)
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.isFault = isFault
  }
}

interface Answer {
  status: number
  text: string
  retryAfterMs: number
}

interface Refusal {
  detail: string
  code: string | undefined
}

/** These depend on the credential, the address or the moment, never on a record. 407 comes from a proxy. */
const neverOfRecords = new Set([401, 404, 405, 407, 408, 429])

/**
 * A firewall in front of the service refuses content without naming the record. A 403 with a code comes from
 * the service itself and concerns the credential.
 */
function isFault(status: number, code: string | undefined): boolean {
  if (status === 403 && code !== undefined) return false
  return status === 500 || (status >= 400 && status < 500 && !neverOfRecords.has(status))
}

const batchAnswer = z.object({
  results: z.array(
    z.union([
      // The common case first: ruling out the other shape costs more than parsing it.
      z.object({ id: z.string(), status: z.string() }),
      z.object({ status_code: z.number(), detail: z.string().default('') }),
    ]),
  ),
})
const refusalAnswer = z.object({ detail: z.string(), code: z.string().optional() })

/** The same bytes always get the same status. */
const refusedStatuses = new Set([400, 413, 422])
const maxAnswerBytes = 4 * 1024 * 1024
const quotaCode = 'INGEST_QUOTA_EXCEEDED'
/** The batch route is missing only while an older service is being replaced. */
const withoutBatchesMs = 60_000
const maxRetryAfterMs = 60_000

export function createPostRecords({ dispatcher, url, credential, tracing, now }: PostOptions): PostRecords {
  let noBatchesUntilMs = 0
  const base = new URL(url)
  const basePath = base.pathname === '/' ? '' : base.pathname

  const exchange = async (path: string, body: Buffer, trace?: TraceContext): Promise<Answer> => {
    try {
      const {
        statusCode,
        headers,
        body: answer,
      } = await dispatcher.request({
        origin: base.origin,
        path: basePath + path,
        method: 'POST',
        headers: { 'content-type': 'application/json', [credential.name]: credential.value, ...trace },
        body,
      })
      const retryAfterMs = Math.min(Number(headers['retry-after']) * 1_000 || 0, maxRetryAfterMs)
      return { status: statusCode, text: await readText(answer), retryAfterMs }
    } catch (error) {
      throw withoutAnswer(error)
    }
  }
  const post = tracing === undefined ? untraced(exchange) : traced(exchange, tracing)
  const postOne = async (record: Buffer): Promise<Verdict> =>
    verdictOf(await post('/internal/log', record, [record]))
  const postEach = async (records: readonly Buffer[]): Promise<Verdict[]> => {
    const verdicts: Verdict[] = []
    for (const record of records) verdicts.push(await postOne(record))
    return verdicts
  }

  return async (records) => {
    if (records.length === 1 || now() < noBatchesUntilMs) return postEach(records)
    const answer = await post('/internal/log/batch', joinBatch(records), records)
    const { status, text } = answer
    if (status === 200) return readVerdicts(text, records.length)
    // An older service has no batch route.
    if (status === 404) noBatchesUntilMs = now() + withoutBatchesMs
    if (status === 404 || refusedStatuses.has(status)) return postEach(records)
    const verdict = verdictOf(answer)
    return records.map(() => verdict)
  }
}

type Exchange = (path: string, body: Buffer, trace?: TraceContext) => Promise<Answer>
type Post = (path: string, body: Buffer, records: readonly Buffer[]) => Promise<Answer>

function untraced(exchange: Exchange): Post {
  return (path, body) => exchange(path, body)
}

function traced(exchange: Exchange, tracing: Tracing): Post {
  return async (path, body, records) => {
    const span = tracing.start(`POST ${path}`, 'client', records.map(traceOfRecord), {
      'http.request.method': 'POST',
      'sluice.records': records.length,
    })
    try {
      const answer = await exchange(path, body, span.context)
      span.set({ 'http.response.status_code': answer.status })
      span.end(answer.status >= 400 ? String(answer.status) : undefined)
      return answer
    } catch (error) {
      span.end(error)
      throw error
    }
  }
}

function joinBatch(records: readonly Buffer[]): Buffer {
  const comma = Buffer.from(',')
  const parts: Buffer[] = [Buffer.from('{"records":[')]
  records.forEach((record, index) => {
    if (index > 0) parts.push(comma)
    parts.push(record)
  })
  parts.push(Buffer.from(']}'))
  return Buffer.concat(parts)
}

function readVerdicts(text: string, expected: number): Verdict[] {
  const parsed = batchAnswer.safeParse(parseJson(text))
  if (!parsed.success || parsed.data.results.length !== expected)
    throw new TransientError('BACKEND_UNAVAILABLE', 'the API service sent an invalid answer')
  return parsed.data.results.map((result) => {
    if (!('status_code' in result)) return { kind: 'taken' }
    const { status_code: status, detail } = result
    // A 429 inside a batch answer comes from the service itself.
    if (status === 429) return { kind: 'over_quota' }
    if (refusedStatuses.has(status)) return { kind: 'refused', status, detail }
    // One record that cannot be stored now does not mean that the service is down.
    return status === 500 ? { kind: 'later', status } : { kind: 'later' }
  })
}

function verdictOf(answer: Answer): Verdict {
  const { status } = answer
  if (status >= 200 && status < 300) return { kind: 'taken' }
  const { detail, code } = refusalOf(answer.text)
  // A 429 without that code comes from something in between, and says nothing about the project.
  if (status === 429 && code === quotaCode) return { kind: 'over_quota' }
  if (refusedStatuses.has(status)) return { kind: 'refused', status, detail }
  throw new NotTaken(`the API service answered ${status}: ${detail}`, {
    status,
    retryAfterMs: answer.retryAfterMs,
    isFault: isFault(status, code),
  })
}

/** Some firewalls reset what they refuse; so does a service that a record crashes. */
const brokenOff = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function withoutAnswer(cause: unknown): TransientError {
  const code = codeOf(cause)
  if (!brokenOff.has(code))
    return new TransientError('BACKEND_UNAVAILABLE', 'the API service does not answer', { cause })
  const fault = { status: null, retryAfterMs: 0, isFault: true }
  return new NotTaken(`the connection to the API service was broken off (${code})`, fault, { cause })
}

function refusalOf(text: string): Refusal {
  const parsed = refusalAnswer.safeParse(parseJson(text))
  return parsed.success
    ? { detail: parsed.data.detail.slice(0, 500), code: parsed.data.code }
    : { detail: '', code: undefined }
}

async function readText(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let byteLength = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    byteLength += chunk.length
    if (byteLength > maxAnswerBytes) throw new RangeError('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
