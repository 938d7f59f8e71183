import { createServer, type Server } from 'node:http'
import { newId } from '#schemas/ids.ts'
import { startLocalServer, type LocalServer } from './local-server.ts'

export type PostedRecord = Record<string, unknown> & { id: string }

/** A misbehaving API service; the real one is in start-api.ts. */
export interface RecordReceiver extends LocalServer {
  /** Records taken, as often as they were sent. */
  taken: PostedRecord[]
  /** The JSON text of each record. */
  texts: string[]
  /** Paths of all posts of records. */
  paths: string[]
  keys: Set<string | undefined>
  /** Status reports of gateways. */
  heartbeats: Record<string, unknown>[]
  /** Status for a record; 202 by default. */
  decide(with_: (record: PostedRecord) => number): void
  /** Status for a whole post, its Retry-After and its code; undefined: by record. */
  refuseAll(status: number | undefined, retryAfterSeconds?: number, code?: string): void
  /** Whether the key's project has zero content retention. */
  keepNothing(isEphemeral: boolean): void
}

export async function startRecordReceiver(): Promise<RecordReceiver> {
  const taken: PostedRecord[] = []
  const texts: string[] = []
  const paths: string[] = []
  const keys = new Set<string | undefined>()
  const heartbeats: Record<string, unknown>[] = []
  let statusOf: (record: PostedRecord) => number = () => 202
  let refusal: number | undefined
  let retryAfter: number | undefined
  let refusalCode = 'X'
  const project = { project_id: newId('project'), tier: 'enterprise', zero_content_retention: false }
  const take = (record: PostedRecord) => {
    const status = statusOf(record)
    if (status === 202) taken.push(record)
    return status
  }
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (part: Buffer) => chunks.push(part))
    request.on('end', () => {
      const isRecord = request.url?.startsWith('/internal/log') === true
      if (isRecord) paths.push(request.url ?? '')
      keys.add(request.headers['x-service-key'] as string | undefined)
      const problem = (status: number) => ({
        detail: 'no',
        code: status === 429 ? 'INGEST_QUOTA_EXCEEDED' : 'X',
      })
      const answer = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
      if (refusal !== undefined) return answer(refusal, { detail: 'refused', code: refusalCode })
      if (request.url === '/internal/project') return answer(200, project)
      if (!isRecord) {
        heartbeats.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>)
        return response.writeHead(204).end()
      }
      const text = Buffer.concat(chunks).toString()
      texts.push(text)
      const posted = JSON.parse(text) as PostedRecord | { records: PostedRecord[] }
      if (!('records' in posted)) {
        const status = take(posted)
        return answer(status, status === 202 ? { id: posted.id, status: 'queued' } : problem(status))
      }
      const results = (posted.records as PostedRecord[]).map((record) => {
        const status = take(record)
        return status === 202
          ? { id: record.id, status: 'queued' }
          : { status_code: status, ...problem(status) }
      })
      return answer(200, { results })
    })
  })
  return {
    ...(await startLocalServer(server)),
    taken,
    texts,
    paths,
    keys,
    heartbeats,
    decide(decide) {
      statusOf = decide
    },
    refuseAll(status, retryAfterSeconds, code = 'X') {
      refusalCode = code
      refusal = status
      retryAfter = retryAfterSeconds
    },
    keepNothing(isEphemeral) {
      project.zero_content_retention = isEphemeral
    },
  }
}
