import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from '#runtime/operations-server.ts'
import { newId } from '#schemas/ids.ts'
import { serveOrders } from './bench-process.ts'

/** How it takes records from now on: `away` refuses, `silent` does not answer. Unset: unchanged. */
export interface CounterOrder {
  mode?: 'there' | 'away' | 'silent'
}

export interface RecordCount {
  /** Distinct identifiers taken: what ingest would have stored. */
  distinct: number
  /** All records taken. */
  taken: number
}

/** Takes records like the API service and counts them. Its only project has no limit. */
const project = { project_id: newId('project'), tier: 'enterprise', zero_content_retention: false }
const ids = new Set<string>()
let taken = 0
let mode: CounterOrder['mode'] = 'there'
const mark = '{"id":"'
const idLength = 'req_'.length + 26

function take(body: string): string[] {
  const found: string[] = []
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) {
    const id = body.slice(at + mark.length, at + mark.length + idLength)
    // Bodies may contain such a field too; only a record's own starts with the prefix.
    if (id.startsWith('req_')) found.push(id)
  }
  for (const id of found) ids.add(id)
  taken += found.length
  return found
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (mode === 'silent') return
    if (mode === 'away') {
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"detail":"away"}')
      return
    }
    if (request.url?.startsWith('/internal/project') === true) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(project))
      return
    }
    if (request.url === '/internal/gateways/heartbeat') {
      response.writeHead(204).end()
      return
    }
    const found = take(Buffer.concat(chunks).toString('latin1'))
    const queued = found.map((id) => ({ id, status: 'queued' }))
    const isBatch = request.url === '/internal/log/batch'
    response.writeHead(isBatch ? 200 : 202, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isBatch ? { results: queued } : queued[0]))
  })
})
server.keepAliveTimeout = 60_000
await listen(server, 0, '127.0.0.1')
serveOrders(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, (order): RecordCount => {
  mode = (order as CounterOrder).mode ?? mode
  return { distinct: ids.size, taken }
})
