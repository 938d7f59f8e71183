import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { chunk } from '#tests/support/raw-upstream.ts'
import { until } from '#tests/support/until.ts'

const world = useGateway()
const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Everything received until the connection closes. */
function exchangeAt(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (data) => (answer += data.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answer))
    socket.write(bytes)
  })
}

test('a call that takes too long in all: 504 before its answer, broken off within it', async () => {
  const gateway = await world.startAnother({ CALL_TIMEOUT_MS: '2000' })
  world.upstream.answer(() => undefined)
  const silent = await world.post(chatPath, {}, gateway)
  expect([silent.status, (await world.recordOf(idOf(silent)))?.['status_code']]).toEqual([504, 504])
  world.upstream.answer((socket) => {
    socket.write(head)
    const timer = setInterval(() => socket.write(chunk('data: {}\n\n')), 50)
    socket.once('close', () => clearInterval(timer))
  })
  const endless = await world.post(chatPath, {}, gateway)
  await expect(endless.text()).rejects.toThrow()
  expect(await world.recordOf(idOf(endless))).toMatchObject({ error: 'the call took longer than 2000 ms' })
  await gateway.stop()
})

test('an application that never sends all of its request gets 408', async () => {
  const gateway = await world.startAnother({ REQUEST_TIMEOUT_MS: '300' })
  const request = `POST ${chatPath} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer a-proxy-key\r\nContent-Length: 9\r\n\r\nhalf`
  expect(await exchangeAt(gateway.port, request)).toMatch(/^HTTP\/1.1 408 /)
  expect(world.upstream.requests).toHaveLength(0)
  await gateway.stop()
})

test.each([
  ['its headers', 'GET / HTTP/1.1\r\nHost: g\r\nX: '],
  ['its first line', 'GET / HT'],
])('an application that never sends all of %s gets 408', async (_name, start) => {
  const gateway = await world.startAnother({ REQUEST_TIMEOUT_MS: '300' })
  expect(await exchangeAt(gateway.port, start)).toMatch(/^HTTP\/1.1 408 [^]*X-Service-Request-Id: req_/)
  expect(await gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_refused_total')).toContain(
    '{reason="slow"} 1',
  )
  await gateway.stop()
})

test('an answer that nobody reads is broken off and counted; one that waits for the provider is not', async () => {
  const gateway = await world.startAnother({ ANSWER_STALL_TIMEOUT_MS: '300' })
  const stalled = () => gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_stalled_total')
  world.upstream.answer((socket) =>
    setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'), 900),
  )
  expect(await (await world.post(chatPath, {}, gateway)).text()).toBe('{}')
  expect(await stalled()).toMatch(/ 0$/m)
  const bytes = 64 * 1024 * 1024
  world.upstream.answer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`)
    socket.write(Buffer.alloc(bytes, ' '))
  })
  const client = connect(gateway.port, '127.0.0.1')
  client.on('error', () => undefined)
  client.pause()
  client.write(
    `POST ${chatPath} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer a-proxy-key\r\nContent-Length: 2\r\n\r\n{}`,
  )
  await until(async () => / 1$/m.test(await stalled()))
  // The provider's connection is closed, and the received part is recorded.
  await until(() => world.upstream.closed() > 0)
  await until(() => world.receiver.taken.some((record) => record['aborted_by'] === 'client'))
  client.destroy()
  await gateway.stop()
})

test('connections beyond the most are closed and counted', async () => {
  const gateway = await world.startAnother({ GATEWAY_MAX_CONNECTIONS: '1' })
  const first = connect(gateway.port, '127.0.0.1')
  await new Promise((resolve) => first.once('connect', resolve))
  expect(await exchangeAt(gateway.port, 'GET / HTTP/1.1\r\n\r\n')).toBe('')
  expect(await gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_refused_total')).toContain(
    '{reason="connections"} 1',
  )
  first.destroy()
  await gateway.stop()
})

const statusesOf = (answers: Response[]) => answers.map((answer) => answer.status)

test('a provider that hangs: calls wait up to a bound; who leaves is let go at once, the next is made', async () => {
  const gateway = await world.startAnother({ UPSTREAM_CONNECTIONS: '1', UPSTREAM_MAX_WAITING: '1' })
  const metric = (name: string) => gateway.metrics.registry.getSingleMetricAsString(`sluice_gateway_${name}`)
  const sockets: Socket[] = []
  world.upstream.answer((socket) => sockets.push(socket))
  const call = (signal?: AbortSignal) => world.post(chatPath, signal === undefined ? {} : { signal }, gateway)
  const first = call()
  await until(() => sockets.length === 1)
  const leaving = new AbortController()
  const second = call(leaving.signal).catch((error: unknown) => error)
  await until(async () => /waiting_calls 1$/m.test(await metric('waiting_calls')))
  const refused = await call()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toMatchObject({ error: { type: 'server_error', code: 'too_many_waiting' } })
  expect(await metric('refused_total')).toContain('{reason="waiting"} 1')
  leaving.abort()
  await second
  await until(async () => /waiting_calls 0$/m.test(await metric('waiting_calls')))
  await until(async () => / 1$/m.test(await metric('in_flight_calls')))
  const third = call()
  await until(async () => /waiting_calls 1$/m.test(await metric('waiting_calls')))
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
  sockets[0]?.write(ok)
  await until(() => sockets.length === 2)
  sockets[1]?.write(ok)
  expect(statusesOf(await Promise.all([first, third]))).toEqual([200, 200])
  expect(world.upstream.requests).toHaveLength(2)
  await gateway.stop()
})

test('drained by configuration, a call whose application left while it waited is made all the same', async () => {
  const gateway = await world.startAnother({ UPSTREAM_CONNECTIONS: '1', CLIENT_GONE: 'drain' })
  const waiting = () => gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_waiting_calls')
  const inFlight = () => gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_in_flight_calls')
  const sockets: Socket[] = []
  world.upstream.answer((socket) => sockets.push(socket))
  const first = world.post(chatPath, {}, gateway)
  await until(() => sockets.length === 1)
  const leaving = new AbortController()
  const second = world.post(chatPath, { signal: leaving.signal }, gateway).catch((error: unknown) => error)
  await until(async () => / 1$/m.test(await waiting()))
  leaving.abort()
  await second
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
  sockets[0]?.write(ok)
  await until(() => sockets.length === 2)
  expect((await first).status).toBe(200)
  sockets[1]?.write(ok)
  await until(async () => / 0$/m.test(await inFlight()))
  expect(world.upstream.requests).toHaveLength(2)
  await gateway.stop()
})

test('with a spool that cannot be written the gateway serves on, counts what is lost, and says so', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-no-spool-'))
  const file = join(directory, 'file')
  await writeFile(file, '')
  const gateway = await world.startAnother({ SPOOL_DIR: join(file, 'spool') })
  expect((await world.post(chatPath, {}, gateway)).status).toBe(200)
  const health = gateway.gateway.health()
  expect([health.status, health.problems?.['spool']]).toEqual([
    'degraded',
    expect.stringContaining('ENOTDIR'),
  ])
  expect(
    await gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_records_lost_total'),
  ).toContain('{reason="spool_write"} 1')
  await gateway.stop()
  await rm(directory, { recursive: true })
})

test('a browser that asks before it calls is answered 401 without a word of CORS (docs/applications.md)', async () => {
  const asking = { origin: 'https://app.test', 'access-control-request-method': 'POST' }
  const response = await fetch(world.gateway.url + chatPath, { method: 'OPTIONS', headers: asking })
  expect(response.status).toBe(401)
  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  expect(world.upstream.requests).toEqual([])
})
