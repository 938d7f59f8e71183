// A receiver of Sluice's webhooks, for Node 24 without packages.
// Run: WEBHOOK_SECRET=whsec_… PORT=8080 node receiver.ts
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
if (!secret.startsWith('whsec_')) throw new Error('WEBHOOK_SECRET is not set')
// After a rotation the second header has the old secret's signature until the overlap ends.
const signatures = ['x-service-signature', 'x-service-signature-previous']
const maxBodyBytes = 1_048_576
// Delivery is at least once. Keep these outside the process, for as long as you expect replays.
const seen = new Set<string>()

/** Signed over the raw bytes: parsing and serialising would change them. */
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
