import { z } from 'zod'
import { Agent, request } from 'undici'
import { messageOf, PermanentError, TransientError } from '#runtime/errors.ts'

/** Ingest's answer for each record: null when it has it. */
export type LogRecords = (records: readonly object[]) => Promise<(string | null)[]>

const answerSchema = z.object({
  results: z.array(z.looseObject({ status_code: z.number().optional(), code: z.string().optional() })),
})

/** Ingest takes 1,000 records and 32 MiB at once. */
const [maxBatchRecords, maxBatchBytes] = [1_000, 24 * 1024 * 1024]

/**
 * Posts attempts as the operator. Rejects with TransientError while ingest cannot take them. Sending again is
 * safe, because ids are fixed.
 */
export function createIngestClient(options: { baseUrl: string; secret: string; timeoutMs: number }) {
  const agent = new Agent({
    connections: 4,
    bodyTimeout: options.timeoutMs,
    headersTimeout: options.timeoutMs,
  })
  const url = `${options.baseUrl}/internal/log/batch`
  const post = async (body: string) => {
    const { statusCode, body: answer } = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${options.secret}`, 'content-type': 'application/json' },
      body,
    })
    return { statusCode, text: await answer.text() }
  }
  const logSome = async (records: readonly string[]): Promise<(string | null)[]> => {
    const { statusCode, text } = await post(`{"records":[${records.join(',')}]}`).catch((error: unknown) => {
      throw new TransientError('INGEST_UNAVAILABLE', messageOf(error), { cause: error })
    })
    if (statusCode >= 500 || statusCode === 429)
      throw new TransientError('INGEST_UNAVAILABLE', `ingest answers ${statusCode}`)
    if (statusCode !== 200)
      throw new PermanentError('INGEST_REFUSES', `ingest answers ${statusCode}: ${text.slice(0, 300)}`)
    const results = readResults(text)
    if (results.some(({ status_code }) => status_code === 503))
      throw new TransientError('INGEST_UNAVAILABLE', 'ingest cannot take some records')
    return records.map((_record, index) => {
      const { status_code, code } = results[index] ?? { status_code: 500 }
      return status_code === undefined ? null : (code ?? `HTTP_${status_code}`)
    })
  }
  const log: LogRecords = async (records) => {
    const results: (string | null)[] = []
    let group: string[] = []
    let size = 0
    for (const record of records) {
      const json = JSON.stringify(record)
      const bytes = Buffer.byteLength(json)
      if (group.length === maxBatchRecords || (group.length > 0 && size + bytes > maxBatchBytes)) {
        results.push(...(await logSome(group)))
        group = []
        size = 0
      }
      group.push(json)
      size += bytes
    }
    return [...results, ...(await logSome(group))]
  }
  return { log, close: () => agent.destroy() }
}

/** A proxy may answer 200 with a page of its own. Then what was taken is unknown, and it is sent again. */
function readResults(text: string): z.output<typeof answerSchema>['results'] {
  try {
    return answerSchema.parse(JSON.parse(text)).results
  } catch (error) {
    throw new TransientError('INGEST_UNAVAILABLE', 'ingest answers 200 without results', { cause: error })
  }
}
