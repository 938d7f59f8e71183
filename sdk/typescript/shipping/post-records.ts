import type { Poster } from './post-json.ts'
import { aloneDisposition, batchDisposition, type BatchDisposition } from './read-results.ts'
import type { QueuedRecord } from './record-queue.ts'

/** Posts records to the API: a single one to `/internal/log`, several to `/internal/log/batch`. */
export interface PostRecords {
  post: (records: readonly QueuedRecord[]) => Promise<BatchDisposition>
  /** How many of `wanted` records the next post may have. */
  batchLimit: (wanted: number) => number
}

const answerTimeoutMs = 15_000
/** The batch route is missing only while an older API is being replaced. */
const withoutBatchesMs = 60_000
const brokenOff: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE'])

/** `now` in milliseconds. */
export function createPostRecords(poster: Poster, now: () => number): PostRecords {
  let noBatchesUntilMs = -Infinity
  const post = async (records: readonly QueuedRecord[]): Promise<BatchDisposition> => {
    const [alone] = records
    if (alone !== undefined && records.length === 1)
      return aloneDisposition(await poster.post('/internal/log', alone, answerTimeoutMs))
    const answer = await poster.post('/internal/log/batch', batchBody(records), answerTimeoutMs)
    if (answer.status !== 404) return batchDisposition(answer, records.length)
    noBatchesUntilMs = now() + withoutBatchesMs
    return { kind: 'again', afterMs: undefined, detail: 'the API has no batch route', isFault: false }
  }
  return {
    batchLimit: (wanted) => (now() < noBatchesUntilMs ? 1 : wanted),
    async post(records) {
      try {
        return await post(records)
      } catch (error) {
        // Some firewalls reset the connection.
        const isFault = brokenOff.has((error as NodeJS.ErrnoException).code)
        const detail = error instanceof Error ? error.message : String(error)
        return { kind: 'again', afterMs: undefined, detail, isFault }
      }
    },
  }
}

function batchBody(batch: readonly QueuedRecord[]): Buffer {
  const comma = Buffer.from(',')
  const records = batch.flatMap((record, index) => (index === 0 ? [record] : [comma, record]))
  return Buffer.concat([Buffer.from('{"records":['), ...records, Buffer.from(']}')])
}
