import { once } from 'node:events'
import {
  createServer,
  request as post,
  type ClientRequest,
  type IncomingMessage,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterEach, expect, jest, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { until } from '#tests/support/until.ts'
import type { Principal } from './access/principal.ts'
import { createAnswerBudget } from './answer-budget.ts'
import { createBodyBudget } from './body-budget.ts'
import { createApp } from './create-app.ts'
import { readBody } from './read-body.ts'
import { rawRoute } from './route.ts'

// Takes 10 s and more beside five other test processes on two cores.
jest.setTimeout(120_000)

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const mebibyte = 1024 * 1024
function principalOf(name: string): Principal {
  if (name === 'operator' || name === 'anonymous') return { kind: name }
  const project = { projectId: name, tier: 'pro', zeroContentRetention: false } as const
  return { kind: 'key', key: { keyId: name, scope: 'all', expiresAtMs: null, project } }
}

/** An app whose callers name themselves, with a budget of 4 MiB; `handling` delays its answers. */
async function startApp(bodyTimeoutMs: number, handling: () => Promise<void> = () => Promise.resolve()) {
  const metrics = createMetrics()
  const route = rawRoute({
    method: 'post',
    path: '/in',
    access: 'ingest',
    tag: '',
    summary: '',
    maxBodyBytes: 3 * mebibyte,
    reply: { status: 200, description: '' },
    async handle({ body }) {
      await handling()
      return { json: { bytes: body.length } }
    },
  })
  const app = createApp({
    routes: [route],
    authenticate: ({ who }) => Promise.resolve(principalOf(String(who))),
    bodyBudget: createBodyBudget(4 * mebibyte, metrics),
    answerBudget: createAnswerBudget(4 * mebibyte, metrics),
    bodyTimeoutMs,
    health: () => ({ status: 'ok' }),
    log: createLog('test', 'silent'),
    metrics,
  })
  const { port } = await listen(createServer(app))
  const start = (who: string, headers: Record<string, string> = {}): ClientRequest =>
    post({ port, host: '127.0.0.1', path: '/in', method: 'POST', headers: { who, ...headers } }).on(
      'error',
      () => undefined,
    )
  const send = (who: string, body: Buffer, headers?: Record<string, string>) => {
    const sent = start(who, headers)
    sent.end(body)
    return answerOf(sent)
  }
  const held = async () =>
    (await metrics.registry.getSingleMetric('sluice_http_body_bytes')?.get())?.values[0]?.value
  return { start, send, held }
}

async function listen(server: Server): Promise<AddressInfo> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => (server.closeAllConnections(), server.close()))
  return server.address() as AddressInfo
}

async function answerOf(sent: ClientRequest) {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  const json = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
  return { status: response.statusCode, json, headers: response.headers }
}

test('a compressed body of which the last byte is kept back holds its place for a while, then it is 408', async () => {
  const { start, held } = await startApp(300)
  const zipped = gzipSync(Buffer.alloc(mebibyte))
  const slow = start('a', { 'content-encoding': 'gzip' })
  slow.write(zipped.subarray(0, -1))
  const answer = await answerOf(slow)
  expect([answer.status, answer.json['code'], answer.headers.connection]).toEqual([
    408,
    'BODY_TOO_SLOW',
    'close',
  ])
  expect(await held()).toBe(0)
})

test('bodies have room together until their handlers are done; no project takes more than half of it', async () => {
  const go = Promise.withResolvers<undefined>()
  let handled = 0
  const { send, start, held } = await startApp(60_000, () => ((handled += 1), go.promise))
  const small = Buffer.alloc(mebibyte)
  // 3,200 bytes of the half stay free: zlib makes chunks of 16 KiB, and each takes more.
  const half = 123 * 16_384
  const first = send('a', gzipSync(Buffer.alloc(half)), { 'content-encoding': 'gzip' })
  await until(() => handled === 1)
  const own = await send('a', Buffer.alloc(4_000))
  expect([own.status, own.json['code'], own.headers['retry-after']]).toEqual([503, 'BODIES_TOO_MANY', '1'])

  const second = send('operator', Buffer.alloc(1.5 * mebibyte))
  await until(() => handled === 2)
  expect((await send('b', small)).status).toBe(503)
  go.resolve(undefined)
  expect([(await first).json, (await second).json]).toEqual([{ bytes: half }, { bytes: 1.5 * mebibyte }])
  expect((await send('b', small)).status).toBe(200)
  expect(await held()).toBe(0)

  const gone = start('b', { 'transfer-encoding': 'chunked' })
  gone.write(small)
  await until(async () => (await held()) !== 0)
  gone.destroy()
  await until(async () => (await held()) === 0)
})

test('many tiny chunks take more room than their bytes; where that is more than is ever given, it is said', async () => {
  const { start, held } = await startApp(60_000)
  const sent = start('a', { 'transfer-encoding': 'chunked' })
  for (let chunks = 0; chunks < 4_000; chunks += 1) sent.write('x')
  sent.end()
  expect(await answerOf(sent)).toMatchObject({ status: 413, json: { code: 'BODY_TOO_LARGE' } })
  expect(await held()).toBe(0)
})

test('all keys of a project share what is its own, and what is given back twice is given back once', () => {
  const room = createBodyBudget(4 * mebibyte, createMetrics())
  const { key } = principalOf('a') as Extract<Principal, { kind: 'key' }>
  const [one, other] = [
    room.enter(principalOf('a')),
    room.enter({ kind: 'key', key: { ...key, keyId: 'b' } }),
  ]
  one.reserve(1.5 * mebibyte)
  expect(() => other.reserve(mebibyte)).toThrow(expect.objectContaining({ status: 503 }))
  one.release()
  one.release()
  other.reserve(2 * mebibyte)
  expect(() => other.reserve(1)).toThrow(expect.objectContaining({ status: 413 }))
})

test('anyone who has no key takes a sixteenth of it, a project half: who waits for more waits in vain, and is told', async () => {
  const { send } = await startApp(60_000)
  for (const [who, bytes] of [
    ['anonymous', mebibyte / 4],
    ['a', 2 * mebibyte],
  ] as const) {
    const answer = await send(who, Buffer.alloc(bytes))
    expect([answer.status, answer.json['code'], answer.headers['retry-after']]).toEqual([
      413,
      'BODY_TOO_LARGE',
      undefined,
    ])
  }
  expect((await send('anonymous', Buffer.alloc(mebibyte / 8))).status).toBe(200)
})

test('a request that was left before its body is read is refused at once, not when its time is over', async () => {
  const server = createServer()
  const { port } = await listen(server)
  const came = once(server, 'request') as Promise<[IncomingMessage]>
  const sent = post({ port, host: '127.0.0.1', headers: { 'content-length': 9 } }).on(
    'error',
    () => undefined,
  )
  sent.write('x')
  const [request] = await came
  sent.destroy()
  await until(() => request.closed)
  const reservation = createBodyBudget(mebibyte, createMetrics()).enter(principalOf('a'))
  await expect(readBody(request, { maxBytes: 9, timeoutMs: 100, reservation })).rejects.toMatchObject({
    status: 400,
  })
})

test('what cannot be read is refused, whatever its encoding', async () => {
  const { send, held } = await startApp(60_000)
  const gzip = { 'content-encoding': 'gzip' }
  const refused: [Buffer, Record<string, string>, number, string][] = [
    [Buffer.alloc(3 * mebibyte + 1), {}, 413, 'BODY_TOO_LARGE'],
    [Buffer.alloc(3 * mebibyte + 1), { 'transfer-encoding': 'chunked' }, 413, 'BODY_TOO_LARGE'],
    [gzipSync(Buffer.alloc(3 * mebibyte + 1)), gzip, 413, 'BODY_TOO_LARGE'],
    [Buffer.from('no gzip'), gzip, 400, 'BAD_REQUEST'],
    [gzipSync('cut short').subarray(0, -4), gzip, 400, 'BAD_REQUEST'],
    [Buffer.concat([gzipSync('whole'), Buffer.from('more')]), gzip, 400, 'BAD_REQUEST'],
    [
      Buffer.concat([deflateSync('whole'), Buffer.from('more')]),
      { 'content-encoding': 'deflate' },
      400,
      'BAD_REQUEST',
    ],
    [Buffer.from('x'), { 'content-encoding': 'compress' }, 415, 'ENCODING_UNSUPPORTED'],
  ]
  for (const [body, headers, status, code] of refused) {
    const answer = await send('operator', body, headers)
    expect([answer.status, answer.json['code']]).toEqual([status, code])
  }
  expect((await send('operator', Buffer.alloc(0))).json).toEqual({ bytes: 0 })
  expect(await held()).toBe(0)
})
