import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import { startCountingReceiver } from '#tests/support/counting-receiver.ts'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import { sendOnce } from '../testing/send-once.ts'
import { createSender, type Sender, type SenderOptions } from './send-attempt.ts'

const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

const body = Buffer.from('{"data":{}}')
const delivered = { statusCode: 200, error: null }

function sender(options: Partial<SenderOptions> = {}): Sender {
  const created = createSender({
    policy: { insecureHosts: new Set(['127.0.0.1']), ports: new Set([443]) },
    resolveHost: () => Promise.reject(new Error('nothing is looked up here')),
    timeoutMs: 10_000,
    maxConnections: 100,
    ...options,
  })
  opened.push(created)
  return created
}

interface Seen {
  requests: number
  connections: number
  closed: PromiseWithResolvers<undefined>
}

/**
 * Answers every request, the last by closing its connection; `closed` resolves with the first connection's
 * end.
 */
async function shortReceiver(
  answers: number,
  isLastAnswered: boolean,
  onAnswered = () => undefined as unknown,
): Promise<{ seen: Seen; url: string }> {
  const seen: Seen = { requests: 0, connections: 0, closed: Promise.withResolvers<undefined>() }
  const answer = (socket: Socket) => {
    let left = answers
    seen.connections++
    socket.once('close', () => seen.closed.resolve(undefined))
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.includes('}}')) return
      seen.requests++
      const text = left > 1 || isLastAnswered ? 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' : ''
      socket.write(text, onAnswered)
      if (--left === 0) socket.end()
    })
  }
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test('a connection that was closed between two requests is no failure: nothing was sent on it', async () => {
  const { url, seen } = await shortReceiver(1, true)
  const one = sender()
  expect(await sendOnce(one, url, {}, body)).toMatchObject(delivered)
  await seen.closed.promise
  expect(await sendOnce(one, url, {}, body)).toMatchObject(delivered)
  expect(seen).toMatchObject({ requests: 2, connections: 2 })
})

test('what may hang takes no connection of a quick endpoint at the same origin', async () => {
  const { url, seen } = await shortReceiver(9, true)
  const one = sender()
  const connectionsAfter = async (isQuick: boolean) => {
    expect(await sendOnce(one, url, {}, body, isQuick)).toMatchObject(delivered)
    await nextTurn()
    return seen.connections
  }
  expect(await connectionsAfter(true)).toBe(1)
  expect(await connectionsAfter(false)).toBe(2)
  expect(await connectionsAfter(true)).toBe(2)
  expect(await connectionsAfter(false)).toBe(2)
})

test('a request that was sent is not sent again, however used its connection was', async () => {
  const { url, seen } = await shortReceiver(2, false)
  const one = sender()
  expect(await sendOnce(one, url, {}, body)).toMatchObject(delivered)
  await nextTurn()
  expect((await sendOnce(one, url, {}, body)).error).toBe('the connection was closed before an answer')
  expect(seen).toMatchObject({ requests: 2, connections: 1 })
})

test('an idle connection is closed for one that is needed', async () => {
  const [first, second] = [await shortReceiver(9, true), await shortReceiver(9, true)]
  const one = sender({ maxConnections: 1 })
  expect(await sendOnce(one, first.url, {}, body)).toMatchObject(delivered)
  await nextTurn()
  expect(await sendOnce(one, second.url, {}, body)).toMatchObject(delivered)
  await nextTurn()
  expect(await sendOnce(one, first.url, {}, body)).toMatchObject(delivered)
  expect(first.seen).toMatchObject({ requests: 2, connections: 2 })
})

test('an attempt does not wait for a connection that another has waited for in vain', async () => {
  let lookups = 0
  const resolveHost = () => new Promise<string[]>(() => lookups++)
  const one = sender({ timeoutMs: 200, resolveHost })
  for (const expected of [1, 2]) {
    expect(await sendOnce(one, 'https://nowhere.example/', {}, body)).toMatchObject({ statusCode: null })
    expect(lookups).toBe(expected)
  }
})

test('an answer that has come while this process was busy is in time', async () => {
  const timeoutMs = 1_000
  const startMs = performance.now()
  const { url } = await shortReceiver(1, true, () => {
    while (performance.now() - startMs < timeoutMs + 200);
  })
  expect(await sendOnce(sender({ timeoutMs }), url, {}, body)).toMatchObject(delivered)
})

test('over TLS a burst uses the connections of the one before it', async () => {
  const tls = makeCertificate()
  const receiver = await startCountingReceiver({ certificate: tls })
  opened.push(receiver)
  const one = sender({ ca: tls.cert })
  const counted = Buffer.from('{"id":"evt","created_at":"2026-01-01"}')
  const atOnce = 50
  for (let burst = 0; burst < 20; burst++) {
    const attempts = Array.from({ length: atOnce }, () => sendOnce(one, `${receiver.url}/`, {}, counted))
    for (const attempt of attempts) expect(await attempt).toMatchObject(delivered)
    await nextTurn()
  }
  expect(await receiver.take()).toMatchObject({ count: 20 * atOnce, connections: atOnce })
})
