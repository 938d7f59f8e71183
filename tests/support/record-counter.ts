import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from '#runtime/operations-server.ts'
import { serveOrders } from './bench-process.ts'

/** Takes records as the API service does, and counts the different identifiers among them. */
const ids = new Set<string>()
const mark = '{"id":"'
const idLength = 'req_'.length + 26

function take(body: string): string[] {
  const found: string[] = []
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) {
    const id = body.slice(at + mark.length, at + mark.length + idLength)
    // The bodies in a record may hold such a field too; only a record's own is a request's.
    if (id.startsWith('req_')) found.push(id)
  }
  for (const id of found) ids.add(id)
  return found
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const taken = take(Buffer.concat(chunks).toString('latin1'))
    const queued = taken.map((id) => ({ id, status: 'queued' }))
    const isBatch = request.url === '/internal/log/batch'
    response.writeHead(isBatch ? 200 : 202, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isBatch ? { results: queued } : queued[0]))
  })
})
server.keepAliveTimeout = 60_000
await listen(server, 0, '127.0.0.1')
serveOrders(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => ids.size)
