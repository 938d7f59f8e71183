// A receiver of Sluice's webhooks. Run: WEBHOOK_SECRET=whsec_… PORT=8080 node receiver.ts (Node 24; no packages).
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
if (!secret.startsWith('whsec_')) throw new Error('WEBHOOK_SECRET is not set')
// After a rotation the second carries the old secret's signature until the overlap ends: both secrets work meanwhile.
const signatures = ['x-service-signature', 'x-service-signature-previous']
const maxBodyBytes = 1_048_576
// Delivery is at least once. Keep these where they outlive the process, for as long as replays are to be expected.
const seen = new Set<string>()

/** Over the bytes as they came: parsing and writing them anew would change them. */
function isSigned(body: Buffer, header: string | string[] | undefined): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(typeof header === 'string' ? header : '')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= maxBodyBytes) chunks.push(chunk)
  })
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    if (bytes > maxBodyBytes || !signatures.some((name) => isSigned(body, request.headers[name]))) {
      response.writeHead(bytes > maxBodyBytes ? 413 : 401).end()
      return
    }
    const event = JSON.parse(body.toString('utf8')) as { event: string; id: string }
    // Answer at once and work afterwards: a receiver has 10 s.
    response.writeHead(204).end()
    if (seen.has(event.id)) return
    seen.add(event.id)
    console.log(`${event.event} ${event.id}`)
  })
})
server.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1', () => console.log('listening'))
