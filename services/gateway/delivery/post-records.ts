import type { Dispatcher } from 'undici'
import { z } from 'zod'
import { TransientError } from '#runtime/errors.ts'
import type { Credential } from './credentials.ts'

/** What the API service decided for one record. */
export type Verdict =
  | { kind: 'taken' }
  /** The project has used its requests. */
  | { kind: 'over_quota' }
  /** It will never be taken. */
  | { kind: 'refused'; status: number; detail: string }
  /** Not now. */
  | { kind: 'later' }
  /** Not by this gateway: it has no credential for the record's project. */
  | { kind: 'unsendable' }

/**
 * Posts records (JSON bytes) and gives a verdict for each, in order. Throws TransientError (`BACKEND_UNAVAILABLE`) when the service could
 * decide none: no answer, 5xx, or it does not know the key.
 */
export type PostRecords = (records: readonly Buffer[]) => Promise<Verdict[]>

export interface PostOptions {
  dispatcher: Dispatcher
  /** The API service, without a slash at the end. */
  url: string
  /** The header that says who posts. */
  credential: Credential
}

const batchAnswer = z.object({
  results: z.array(
    z.union([
      // First what nearly all are: to find that a result is not the other kind costs more than reading it.
      z.object({ id: z.string(), status: z.string() }),
      z.object({ status_code: z.number(), detail: z.string().default('') }),
    ]),
  ),
})
const refusal = z.object({ detail: z.string() })

/** Statuses that the same bytes will always get. */
const refusedStatuses = new Set([400, 413, 422])
const maxAnswerBytes = 4 * 1024 * 1024

export function createPostRecords({ dispatcher, url, credential }: PostOptions): PostRecords {
  let hasBatches = true
  const base = new URL(url)
  const basePath = base.pathname === '/' ? '' : base.pathname

  const post = async (path: string, body: Buffer): Promise<{ status: number; text: string }> => {
    try {
      const answer = await dispatcher.request({
        origin: base.origin,
        path: basePath + path,
        method: 'POST',
        headers: { 'content-type': 'application/json', [credential.name]: credential.value },
        body,
      })
      return { status: answer.statusCode, text: await readText(answer.body) }
    } catch (error) {
      throw new TransientError('BACKEND_UNAVAILABLE', 'the API service does not answer', { cause: error })
    }
  }
  const postOne = async (record: Buffer): Promise<Verdict> => {
    const { status, text } = await post('/internal/log', record)
    return verdictOf(status, () => detailOf(text))
  }
  const postEach = async (records: readonly Buffer[]): Promise<Verdict[]> => {
    const verdicts: Verdict[] = []
    for (const record of records) verdicts.push(await postOne(record))
    return verdicts
  }

  return async (records) => {
    if (records.length === 1 || !hasBatches) return postEach(records)
    const { status, text } = await post('/internal/log/batch', joinBatch(records))
    if (status === 200) return readVerdicts(text, records.length)
    // An older service has no batches.
    if (status === 404) hasBatches = false
    if (status === 404 || refusedStatuses.has(status)) return postEach(records)
    const verdict = verdictOf(status, () => detailOf(text))
    return records.map(() => verdict)
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
  const parsed = batchAnswer.safeParse(parse(text))
  if (!parsed.success || parsed.data.results.length !== expected)
    throw new TransientError('BACKEND_UNAVAILABLE', 'the API service gave an answer that is not understood')
  return parsed.data.results.map((result) => {
    if (!('status_code' in result)) return { kind: 'taken' }
    // One record of many that cannot be taken now does not mean that the service is away.
    if (result.status_code >= 500 || result.status_code === 401 || result.status_code === 403)
      return { kind: 'later' }
    return verdictOf(result.status_code, () => result.detail)
  })
}

function verdictOf(status: number, detail: () => string): Verdict {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  if (status === 429) return { kind: 'over_quota' }
  if (refusedStatuses.has(status)) return { kind: 'refused', status, detail: detail() }
  throw new TransientError('BACKEND_UNAVAILABLE', `the API service answered ${status}: ${detail()}`)
}

function detailOf(text: string): string {
  const parsed = refusal.safeParse(parse(text))
  return parsed.success ? parsed.data.detail.slice(0, 500) : ''
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
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
