import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, expect, test } from '@jest/globals'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import {
  startWebhookReceiver,
  type ReceiverBehaviour,
  type WebhookReceiver,
} from '#tests/support/webhook-receiver.ts'
import { sendOnce } from '../testing/send-once.ts'
import { createSender, type Sender, type SenderOptions } from './send-attempt.ts'

const tls = makeCertificate()
const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

const body = Buffer.from('{"event":"usage_alert","id":"evt_1","data":{"text":"é"}}')

async function receiver(behaviour?: ReceiverBehaviour, secure = false): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver(secure ? { tls } : {})
  opened.push(started)
  if (behaviour !== undefined) started.behave(behaviour)
  return started
}

function sender(options: Partial<SenderOptions> & { insecure?: string[]; ports?: number[] } = {}): Sender {
  const { insecure = ['127.0.0.1'], ports = [443], ...rest } = options
  const created = createSender({
    policy: { insecureHosts: new Set(insecure), ports: new Set(ports) },
    resolveHost: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    // Where no limit is tested none is met, however busy the machine.
    timeoutMs: 60_000,
    maxConnections: 100,
    ...rest,
  })
  opened.push(created)
  return created
}

test('sends exactly the bytes and headers, and keeps what was answered', async () => {
  const { url, deliveries } = await receiver({ kind: 'answer', status: 202, body: 'thanks' })
  const result = await sendOnce(sender(), url, { 'x-service-event': 'usage_alert' }, body)
  expect(result).toMatchObject({ statusCode: 202, error: null, timedOut: false })
  expect(result.excerpt?.toString()).toBe('thanks')
  expect(deliveries[0]?.body.equals(body)).toBe(true)
  expect(deliveries[0]?.headers).toMatchObject({
    'x-service-event': 'usage_alert',
    'content-length': String(body.length),
  })
})

test.each([301, 302, 307, 308, 400, 401, 404, 410, 500, 503])('%d is a failure, once', async (status) => {
  const target = await receiver()
  const { url, deliveries } = await receiver({ kind: 'answer', status, headers: { location: target.url } })
  const result = await sendOnce(sender(), url, {}, body)
  expect(result).toMatchObject({ statusCode: status, error: `the receiver answered ${status}` })
  expect(deliveries).toHaveLength(1)
  expect(target.deliveries).toHaveLength(0)
})

test('a receiver that never answers fails at the limit', async () => {
  const { url } = await receiver({ kind: 'hang' })
  const result = await sendOnce(sender({ timeoutMs: 300 }), url, {}, body)
  expect(result).toMatchObject({ statusCode: null, error: 'no answer within 0.3 s', timedOut: true })
  expect(result.durationMs).toBeGreaterThanOrEqual(299)
})

test('a receiver that resets fails', async () => {
  const { url } = await receiver({ kind: 'reset' })
  expect((await sendOnce(sender(), url, {}, body)).error).toMatch(/^the connection was/)
})

test('the status decides, however slowly the rest comes', async () => {
  const { url } = await receiver({ kind: 'crawl', status: 200 })
  const result = await sendOnce(sender(), url, {}, body)
  expect(result).toMatchObject({ statusCode: 200, error: null })
  expect(result.excerpt?.toString()).toMatch(/^\.+$/)
})

/** Sends the beginning, then a byte at a time, or ends. */
async function rawReceiver(beginning: string, then: 'crawl' | 'reset' | 'end'): Promise<string> {
  const answer = (socket: Socket) => {
    // An ended sender is part of what is tested.
    socket.on('error', () => socket.destroy())
    socket.once('data', () => {
      socket.write(beginning, () => {
        if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), 100)
        if (then === 'end') socket.end()
      })
      if (then !== 'crawl') return
      const timer = setInterval(() => socket.write('x'), 50)
      socket.once('close', () => clearInterval(timer))
    })
  }
  return listen(createServer(answer), 'http')
}

async function listen(server: Server, scheme: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const timeLimit = { statusCode: null, error: 'no answer within 0.5 s', timedOut: true }
const delivered = { statusCode: 200, error: null, timedOut: false }

test.each([
  ['a status line, then headers that crawl', 'HTTP/1.1 200 OK\r\nX-Slow: ', 'crawl', delivered],
  [
    'the same after an interim answer',
    'HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nX: ',
    'crawl',
    delivered,
  ],
  ['a status line, then a reset', 'HTTP/1.1 200 OK\r\nX-Slow: ', 'reset', delivered],
  ['a status line, then what is no header', 'HTTP/1.1 200 OK\r\n\x01\x02\r\n', 'crawl', delivered],
  [
    'a refusal, then headers that crawl',
    'HTTP/1.1 503 No\r\nX: ',
    'crawl',
    { statusCode: 503, timedOut: false },
  ],
  ['a status line that crawls', 'HTTP/1.1 200 ', 'crawl', timeLimit],
  ['interim answers and no other', 'HTTP/1.1 103 Hints\r\n\r\n', 'crawl', { statusCode: null }],
  ['half a status line', 'HTTP/1.1 200', 'end', { statusCode: null }],
] as const)('%s: the status line decides', async (_name, beginning, then, expected) => {
  const url = await rawReceiver(beginning, then)
  const limit = expected === timeLimit ? { timeoutMs: 500 } : {}
  expect(await sendOnce(sender(limit), url, {}, body)).toMatchObject(expected)
})

test('the status line decides over TLS and on a connection that served before', async () => {
  const server = createTlsServer(tls, (socket) => {
    const beginnings = ['HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n', 'HTTP/1.1 200 OK\r\nX-Slow: ']
    socket.on('error', () => socket.destroy())
    // Headers and body can come apart; the body's end is the request's.
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('}}')) socket.write(beginnings.shift() ?? '')
    })
  })
  const connections: Socket[] = []
  server.on('secureConnection', (socket) => connections.push(socket))
  const url = await listen(server, 'https')
  const one = sender({ ca: tls.cert })
  expect((await sendOnce(one, url, {}, body)).statusCode).toBe(500)
  // A connection is used again one turn after an answer has ended.
  await nextTurn()
  expect(await sendOnce(one, url, {}, body)).toMatchObject(delivered)
  expect(connections).toHaveLength(1)
})

test('a large answer is cut off', async () => {
  const { url } = await receiver({ kind: 'answer', status: 200, body: 'x'.repeat(5_000_000) })
  const result = await sendOnce(sender(), url, {}, body)
  expect(result.error).toBeNull()
  expect(result.excerpt).toHaveLength(2_048)
})

test('what is no HTTP fails', async () => {
  const url = await listen(
    createServer((socket) => socket.resume().end('nonsense\r\n\r\n')),
    'http',
  )
  expect((await sendOnce(sender(), url, {}, body)).error).toBe('the answer is not HTTP')
})

test('what speaks another protocol, and waits for us to, fails at once', async () => {
  const url = await listen(
    createServer((socket) => socket.resume().write('SSH-2.0-x\r\n')),
    'http',
  )
  expect((await sendOnce(sender(), url, {}, body)).error).toBe('the answer is not HTTP')
})

test('a header that would be two is not sent', async () => {
  const { url, deliveries } = await receiver()
  const result = await sendOnce(sender(), url, { 'webhook-id': 'evt_1\r\nX-Other: 1' }, body)
  expect(result.error).toBe('a header cannot be sent as it is')
  expect(deliveries).toHaveLength(0)
})

test('nobody listens', async () => {
  expect((await sendOnce(sender(), 'http://127.0.0.1:1/', {}, body)).error).toBe('the connection was refused')
})

test('HTTPS is verified: our CA is needed', async () => {
  const { url, deliveries } = await receiver(undefined, true)
  expect((await sendOnce(sender(), url, {}, body)).error).toMatch(/^TLS: .*self-signed/)
  expect(deliveries).toHaveLength(0)
  expect(await sendOnce(sender({ ca: tls.cert }), url, {}, body)).toMatchObject(delivered)
})

test('HTTPS is verified: the name has to fit', async () => {
  const { url } = await receiver(undefined, true)
  const elsewhere = url.replace('127.0.0.1', 'localhost')
  const result = await sendOnce(sender({ ca: tls.cert, insecure: ['localhost'] }), elsewhere, {}, body)
  expect(result.error).toMatch(/^TLS: /)
})

test.each([
  [['127.0.0.1', '10.0.0.1', '::ffff:127.0.0.1', '::1']],
  ...[
    '169.254.169.254',
    '100.100.100.200',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    'fe80::1',
  ].map((address) => [[address]]),
])(
  'a host that leads to %j when connecting is refused, whatever it led to when it was saved',
  async (answers) => {
    const { url, deliveries } = await receiver(undefined, true)
    const { port } = new URL(url)
    const resolveHost = () => Promise.resolve(answers)
    const rebinding = sender({ ca: tls.cert, ports: [Number(port)], resolveHost })
    const result = await sendOnce(rebinding, `https://rebinding.example:${port}/hook`, {}, body)
    expect(result.error).toBe('the host has no public address')
    expect(deliveries).toHaveLength(0)
  },
)

test.each([
  ['http://127.0.0.1/', 'the URL must start with https://'],
  ['https://127.0.0.1/', 'the URL must not be an internal address'],
  ['https://2130706433/', 'the URL must not be an internal address'],
  ['https://0x7f.1/', 'the URL must not be an internal address'],
  ['https://0177.0.0.1/', 'the URL must not be an internal address'],
  ['https://[::ffff:127.0.0.1]/', 'the URL must not be an internal address'],
  ['https://[64:ff9b::7f00:1]/', 'the URL must not be an internal address'],
  ['https://[2002:7f00:1::]/', 'the URL must not be an internal address'],
  ['https://[fe80::1]/', 'the URL must not be an internal address'],
  ['https://169.254.169.254/', 'the URL must not be an internal address'],
  ['https://user:secret@example.com/', 'the URL must not hold a user name or a password'],
  ['https://example.com:22/', 'the URL port 22 is not allowed; allowed: 443'],
])('%s is refused', async (url, error) => {
  expect(await sendOnce(sender({ insecure: [] }), url, {}, body)).toMatchObject({ statusCode: null, error })
})

test('one that hangs does not hold up others', async () => {
  const hanging = await receiver({ kind: 'hang' })
  const well = await receiver()
  const one = sender()
  const stuck = Array.from({ length: 50 }, () => sendOnce(one, hanging.url, {}, body))
  const sent = await Promise.all(Array.from({ length: 50 }, () => sendOnce(one, well.url, {}, body)))
  expect(sent.every(({ error }) => error === null)).toBe(true)
  expect(hanging.deliveries.every(({ answeredAtMs }) => answeredAtMs === null)).toBe(true)
  await hanging.close()
  await Promise.all(stuck)
})
