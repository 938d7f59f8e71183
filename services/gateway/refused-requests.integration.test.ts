import { connect } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { authorization, chatPath, useGateway } from '#tests/support/gateway-fixture.ts'
import { until } from '#tests/support/until.ts'

const world = useGateway()

describe('requests that are not HTTP', () => {
  const head = `Host: h\r\nAuthorization: ${authorization}\r\nConnection: close`
  test.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3'],
    ['two lengths that agree', 'Content-Length: 2\r\nContent-Length: 2'],
    ['a list of lengths', 'Content-Length: 2, 2'],
    ['a length with a sign', 'Content-Length: +2'],
    ['a length in hexadecimal', 'Content-Length: 0x2'],
    ['a negative length', 'Content-Length: -2'],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked'],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 2'],
    ['chunks that are not last', 'Transfer-Encoding: chunked, identity'],
    ['a coding that is not known', 'Transfer-Encoding: xchunked'],
    ['a bare line feed', 'X: a\nContent-Length: 2'],
    ['a bare carriage return', 'X: a\rContent-Length: 2\r\nContent-Length: 2'],
    ['a folded line', 'X: a\r\n b\r\nContent-Length: 2'],
    ['a folded length', 'Content-Length:\r\n 2'],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\nContent-Length: 2'],
    ['a space before the name', ' Content-Length: 2'],
    ['NUL in a value', 'X: a\u0000b\r\nContent-Length: 2'],
    ['a name that is none', 'X(: a\r\nContent-Length: 2'],
    ['two hosts', 'Host: other\r\nContent-Length: 2'],
    ['two hosts that agree', 'HOST: h\r\nContent-Length: 2'],
    ['two hosts in HTTP/1.0', 'Host: other\r\nContent-Length: 2', '1.0'],
    ['a length and chunks in HTTP/1.0', 'Content-Length: 2\r\nTransfer-Encoding: chunked', '1.0'],
    ['a version that is not spoken', 'Content-Length: 2', '2.0'],
  ])('%s are refused', async (_name, lines, version = '1.1') => {
    const answer = await world.exchange(`POST ${chatPath} HTTP/${version}\r\n${head}\r\n${lines}\r\n\r\n{}`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*X-Service-Request-Id: req_[^]*"malformed_request"/)
    expect(await world.metric('sluice_gateway_refused_total')).toContain('{reason="malformed"} 1')
    expect(world.upstream.requests).toHaveLength(0)
  })

  test.each([
    ['a length that is no number', 'zz\r\n{}\r\n0\r\n\r\n'],
    ['a length with a prefix', '0x2\r\n{}\r\n0\r\n\r\n'],
    ['more than its length', '1\r\n{}\r\n0\r\n\r\n'],
    ['bare line feeds', '2\n{}\n0\n\n'],
  ])('a chunk with %s is refused', async (_name, body) => {
    const answer = await world.exchange(
      `POST ${chatPath} HTTP/1.1\r\n${head}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(world.upstream.requests).toHaveLength(0)
  })

  test('what follows a body is a request of its own, which needs a key of its own', async () => {
    const answer = await world.exchange(
      `POST ${chatPath} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\nContent-Length: 2\r\n\r\n{}GET /smuggled HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
    )
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401'])
    expect(world.upstream.requests).toHaveLength(1)
  })

  test('headers beyond 64 KiB are refused', async () => {
    const answer = await world.exchange(`GET / HTTP/1.1\r\n${head}\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 [^]*X-Service-Request-Id: req_/)
    expect(await world.metric('sluice_gateway_refused_total')).toContain('{reason="headers"} 1')
  })

  test.each([
    ['no Host', 'GET / HTTP/1.1', '', 400],
    ['a Host that is none', 'GET / HTTP/1.1\r\nHost: h, other', '', 400],
    ['an expectation that is not known', 'GET / HTTP/1.1\r\nHost: h\r\nExpect: more', '', 417],
    // The answer does not end the connection: the rest of the body may follow.
    ['a transfer coding', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked', '0\r\n\r\n', 501],
    ['chunks in HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n', 400],
    ['a tunnel', 'CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com', '', 405],
  ])('%s: refused with an identifier', async (_name, lines, body, status) => {
    const headers = `Authorization: ${authorization}\r\nConnection: close`
    const answer = await world.exchange(`${lines}\r\n${headers}\r\n\r\n${body}`)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*X-Service-Request-Id: req_`))
    expect(world.upstream.requests).toHaveLength(0)
  })

  test.each([
    ['rubbish', '\u0000\u0001\r\n\r\n'],
    ['more than its length', ' and more'],
  ])(
    'a call with %s behind it is answered and recorded, then what follows is refused',
    async (_name, more) => {
      const goOn = Promise.withResolvers<undefined>()
      world.upstream.answer((provider) => {
        provider.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf')
        void goOn.promise.then(() => provider.write('half'))
      })
      const socket = connect(world.gateway.port, '127.0.0.1')
      let answer = ''
      socket.on('data', (data) => (answer += data.toString('latin1')))
      const call = `POST ${chatPath} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\nContent-Length: 2\r\n\r\n{}`
      socket.write(call + more)
      const refused = () => world.metric('sluice_gateway_refused_total')
      await until(async () => (await refused()).includes('{reason="malformed"} 1'))
      await until(() => answer.endsWith('half'))
      socket.write(more)
      goOn.resolve(undefined)
      await new Promise((resolve) => socket.once('close', resolve))
      const [id] = /req_\w+/.exec(answer) ?? []
      expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nhalfhalfHTTP\/1\.1 400 [^]*"malformed_request"/)
      expect(await refused()).toContain('{reason="malformed"} 1')
      expect(world.upstream.requests).toHaveLength(1)
      expect(await world.recordOf(id ?? null)).toMatchObject({
        status_code: 200,
        aborted_by: null,
        error: null,
      })
    },
  )
})

test('a WebSocket gets 426 at once, so that its client falls back to HTTP', async () => {
  const answer = await world.exchange(
    `GET /v1/responses HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\nConnection: Upgrade, close\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 426 [^]*Upgrade: HTTP\/1\.1[^]*"no_websocket"/)
  expect(world.upstream.requests).toHaveLength(0)
})
