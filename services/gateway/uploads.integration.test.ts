import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { authorization, chatPath, useGateway } from '#tests/support/gateway-fixture.ts'
import { startGateway, type RunningGateway } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'

const world = useGateway()
const mebibyte = 1024 * 1024
let provider: Server
let sockets: Socket[]
let onProvider: (socket: Socket) => void
let gateway: RunningGateway

beforeEach(async () => {
  sockets = []
  provider = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    onProvider(socket)
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  gateway = await startGateway({
    UPSTREAM_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
    API_BACKEND_URL: world.receiver.url,
    REQUEST_MAX_BYTES: String(64 * mebibyte),
  })
})
afterEach(async () => {
  await gateway.stop()
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => provider.close(resolve))
})

const refused = (reason: string) =>
  until(async () =>
    (await gateway.metrics.registry.getSingleMetricAsString('sluice_gateway_refused_total')).includes(
      `{reason="${reason}"} 1`,
    ),
  )

/**
 * Writes a whole request before it reads, as simple clients do; returns what it received until `isEnough`.
 */
function writeThenRead(request: Buffer[], isEnough: (answer: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, '127.0.0.1')
    let answer = ''
    socket.pause()
    socket.on('error', reject)
    socket.on('data', (data) => {
      answer += data.toString('latin1')
      if (isEnough(answer)) socket.destroy()
    })
    socket.on('close', () => resolve(answer))
    for (const bytes of request) socket.write(bytes)
    socket.write('', () => socket.resume())
  })
}

const headOf = (...lines: string[]) =>
  Buffer.from(`POST ${chatPath} HTTP/1.1\r\nHost: g\r\n${lines.join('\r\n')}\r\n\r\n`)
const key = `Authorization: ${authorization}`
/** One chunk per mebibyte. */
const chunks = (mebibytes: number) => [
  ...Array.from({ length: mebibytes }, () => Buffer.from(`100000\r\n${' '.repeat(mebibyte)}\r\n`)),
  Buffer.from('0\r\n\r\n'),
]
const next = Buffer.from(`GET /next HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer no\r\n\r\n`)

describe('an answer before its request has come whole reaches an application that writes everything first', () => {
  const refuseEarly = (socket: Socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}')
      socket.pause()
    })

  test.each([
    ['in chunks', headOf(key, 'Transfer-Encoding: chunked'), chunks(24)],
    ['of known length', headOf(key, `Content-Length: ${24 * mebibyte}`), [Buffer.alloc(24 * mebibyte, ' ')]],
  ])("the provider's 401, %s; then the connection serves another call", async (_name, head, body) => {
    onProvider = refuseEarly
    const answer = await writeThenRead([head, ...body, next], (text) => text.includes('invalid_api_key'))
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 401'])
    expect(answer.split('HTTP/1.1')[1]).toMatch(/\r\n\r\n\{\}$/)
  })

  test('where the application wants the connection closed, it is closed after that', async () => {
    onProvider = refuseEarly
    const head = headOf(key, 'Transfer-Encoding: chunked', 'Connection: close')
    expect(await writeThenRead([head, ...chunks(24)], () => false)).toMatch(/ 401 [^]*\{\}$/)
  })

  test("the gateway's own 502, and 401", async () => {
    onProvider = (socket) => socket.once('data', () => socket.destroy())
    const broken = await writeThenRead(
      [headOf(key, 'Transfer-Encoding: chunked', 'Connection: close'), ...chunks(24)],
      () => false,
    )
    expect(broken).toMatch(/ 502 [^]*upstream_unreachable/)
    const stranger = await writeThenRead(
      [headOf('Authorization: Bearer no', 'Transfer-Encoding: chunked', 'Connection: close'), ...chunks(24)],
      () => false,
    )
    expect(stranger).toMatch(/ 401 [^]*invalid_api_key/)
  })
})

describe('a request that is too large gets 413 and is counted', () => {
  test('by its length: nothing is forwarded', async () => {
    const answer = await writeThenRead([headOf(key, `Content-Length: ${64 * mebibyte + 1}`)], (text) =>
      text.includes('request_too_large'),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*X-Service-Request-Id: req_/)
    expect(sockets).toHaveLength(0)
    await refused('body')
  })

  test('while it passes: the provider sees a break', async () => {
    let isBroken = false
    onProvider = (socket) => {
      socket.resume()
      socket.on('close', () => (isBroken = true))
    }
    const head = headOf(key, 'Transfer-Encoding: chunked', 'Connection: close')
    const answer = await writeThenRead([head, ...chunks(80)], () => false)
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*request_too_large/)
    await until(() => isBroken)
    await refused('body')
    await until(() => world.receiver.taken.some((record) => record['status_code'] === 413))
  })
})

describe('backpressure', () => {
  /** Waits until `count` stops changing or reaches `total`. */
  async function standing(count: () => number, total: number): Promise<number> {
    let last = -1
    let still = 0
    await until(() => {
      still = count() === last ? still + 1 : 0
      last = count()
      return last >= total || (last > 0 && still >= 20)
    })
    return last
  }
  /** Writes as fast as `socket` accepts. */
  function pour(socket: Socket, total: number): () => number {
    let written = 0
    const more = () => {
      while (written < total) {
        written += mebibyte
        if (!socket.write(Buffer.alloc(mebibyte, ' '))) return
      }
    }
    socket.on('drain', more)
    more()
    return () => written
  }
  const total = 60 * mebibyte

  test('an application that does not read holds the provider up', async () => {
    let written = () => 0
    onProvider = (socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
        written = pour(socket, total)
      })
    const client = connect(gateway.port, '127.0.0.1')
    client.pause()
    client.write(headOf(key, 'Content-Length: 0'))
    expect(await standing(() => written(), total)).toBeLessThan(total)
    let read = 0
    client.on('data', (data) => (read += data.length))
    client.resume()
    await until(() => read > total)
    client.destroy()
  })

  test('a provider that does not read holds the application up', async () => {
    const arrived = Promise.withResolvers<Socket>()
    onProvider = (socket) => {
      socket.pause()
      arrived.resolve(socket)
    }
    const client = connect(gateway.port, '127.0.0.1')
    client.on('error', () => undefined)
    client.write(headOf(key, `Content-Length: ${total}`))
    const written = pour(client, total)
    expect(await standing(written, total)).toBeLessThan(total)
    const socket = await arrived.promise
    let read = 0
    socket.on('data', (data) => (read += data.length))
    socket.resume()
    await until(() => read > total)
    client.destroy()
  })
})

test('short requests that withhold their ends are gathered up to a bound, and pass as they come beyond it', async () => {
  const tight = await startGateway({
    UPSTREAM_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
    API_BACKEND_URL: world.receiver.url,
    CAPTURE_TOTAL_MAX_BYTES: String(mebibyte),
  })
  const clients = Array.from({ length: 5 }, () => connect(tight.port, '127.0.0.1'))
  try {
    const head = headOf(key, `Content-Length: ${mebibyte / 4}`)
    for (const client of clients)
      client.on('error', () => undefined).write(Buffer.concat([head, Buffer.from('x')]))
    await until(() => sockets.length > 0)
    await until(async () =>
      (await tight.metrics.registry.getSingleMetricAsString('sluice_gateway_in_flight_calls')).includes(' 5'),
    )
    expect(sockets).toHaveLength(1)
  } finally {
    for (const client of clients) client.destroy()
    await tight.stop()
  }
})
