import { z } from 'zod'
import { Agent, request } from 'undici'
import { messageOf, PermanentError, TransientError } from '#runtime/errors.ts'

/** What ingest said of a record: null when it has it. */
export type LogRecords = (records: readonly object[]) => Promise<(string | null)[]>

const answerSchema = z.object({
  results: z.array(z.looseObject({ status_code: z.number().optional(), code: z.string().optional() })),
})

/** Ingest takes 1,000 records and 32 MiB at once. */
const [mostBatchRecords, mostBatchBytes] = [1_000, 24 * 1024 * 1024]

/** Posts attempts as the operator. Rejects with TransientError while ingest cannot take them; sending again costs nothing, for ids are fixed. */
export function createIngestClient(options: { baseUrl: string; secret: string; timeoutMs: number }) {
  const agent = new Agent({
    connections: 4,
    bodyTimeout: options.timeoutMs,
    headersTimeout: options.timeoutMs,
  })
  const url = new URL('/internal/log/batch', options.baseUrl)
  const logSome = async (records: readonly string[]): Promise<(string | null)[]> => {
    const answer = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${options.secret}`, 'content-type': 'application/json' },
      body: `{"records":[${records.join(',')}]}`,
    }).catch((error: unknown) => {
      throw new TransientError('INGEST_UNAVAILABLE', messageOf(error), { cause: error })
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 500 || answer.statusCode === 429)
      throw new TransientError('INGEST_UNAVAILABLE', `ingest answers ${answer.statusCode}`)
    if (answer.statusCode !== 200)
      throw new PermanentError('INGEST_REFUSES', `ingest answers ${answer.statusCode}: ${text.slice(0, 300)}`)
    const { results } = answerSchema.parse(JSON.parse(text))
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
      if (group.length === mostBatchRecords || (group.length > 0 && size + bytes > mostBatchBytes)) {
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
