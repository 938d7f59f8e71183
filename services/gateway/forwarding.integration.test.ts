import { createHash, randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { isId } from '#schemas/ids.ts'
import { authorization, chatBody, chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { chunk, sized } from '#tests/support/raw-upstream.ts'
import { proxyKey } from '#tests/support/start-gateway.ts'

const world = useGateway()
const json = ['Content-Type: application/json']

describe('forwarding', () => {
  test('request line, header order, case and duplicates, and body arrive as they were sent', async () => {
    const target = '/a/../openai/deployments/x%2Fy/chat/completions?api-version=2024-10-21&a=1&a=2&q=%7e+%20'
    const headers = [
      `Authorization: ${authorization}`,
      'X-Two: b',
      'x-two: a',
      'Cookie: k=v',
      'X-LATIN: caf\u00e9',
      'Accept-Encoding: br;q=0',
    ]
    await world.exchange(
      `POST ${target} HTTP/1.1\r\nHost: h\r\n${headers.join('\r\n')}\r\nConnection: close\r\nContent-Length: ${chatBody.length}\r\n\r\n${chatBody}`,
    )
    const [seen] = world.upstream.requests
    expect(seen?.lines[0]).toBe(`POST ${target} HTTP/1.1`)
    expect(seen?.lines.filter((line) => !/^(host|connection|content-length):/i.test(line)).slice(1)).toEqual(
      headers,
    )
    expect(seen?.lines.some((line) => line.toLowerCase() === `host: ${world.upstream.url.slice(7)}`)).toBe(
      true,
    )
    expect(seen?.body.toString()).toBe(chatBody)
  })

  test("the answer's status, reason, header order and duplicates pass; the identifier is added", async () => {
    const headers = ['Retry-After: 7', 'x-RateLimit-Remaining: 0', 'Set-Cookie: a=1', 'Set-Cookie: b=2']
    world.upstream.answer(sized('429 Slow Down', headers, '{"error":{"message":"slow"}}'))
    const answer = await world.exchange(
      `POST ${chatPath} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    )
    const [head = '', body] = answer.split('\r\n\r\n')
    const lines = head.split('\r\n')
    expect(lines[0]).toBe('HTTP/1.1 429 Slow Down')
    expect(lines.slice(1, 6)).toEqual([...headers, 'Content-Length: 28'])
    expect(lines[6]).toMatch(/^X-Service-Request-Id: req_/)
    expect(lines.some((line) => line.startsWith('Date:'))).toBe(false)
    expect(body).toBe('{"error":{"message":"slow"}}')
    const record = await world.recordOf(lines[6]?.split(': ')[1] ?? '')
    expect(record).toMatchObject({ status_code: 429, error: 'slow', aborted_by: null, source: 'gateway' })
  })

  test.each(['GET', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])(
    '%s of any path is forwarded and not recorded',
    async (method) => {
      const before = world.receiver.paths.length
      const response = await fetch(`${world.gateway.url}/healthz?x`, { method, headers: { authorization } })
      expect(response.status).toBe(200)
      expect(isId('request', idOf(response) ?? '')).toBe(true)
      expect(world.upstream.requests[0]?.lines[0]).toBe(`${method} /healthz?x HTTP/1.1`)
      expect(world.receiver.paths).toHaveLength(before)
    },
  )

  test('a large chunked upload arrives whole and is recorded cut, with its hash', async () => {
    const body = randomBytes(3 * 1024 * 1024).toString('hex')
    const stream = new Blob([body]).stream()
    const response = await world.post(chatPath, { body: stream, duplex: 'half' })
    expect(world.upstream.requests[0]?.lines.map((line) => line.toLowerCase())).toContain(
      'transfer-encoding: chunked',
    )
    expect(world.upstream.requests[0]?.body.toString()).toBe(body)
    expect(await world.metric('sluice_gateway_request_bytes_total')).toMatch(
      new RegExp(` ${body.length}$`, 'm'),
    )
    const record = await world.recordOf(idOf(response))
    if (record === undefined) throw new Error('no record')
    const { text, ...rest } = record['request_body'] as Record<string, unknown> & { text: string }
    expect(rest).toEqual({
      truncated: true,
      bytes: body.length,
      sha256: createHash('sha256').update(body).digest('hex'),
    })
    expect(body.startsWith(text)).toBe(true)
    expect(text.length).toBeGreaterThan(4_100_000)
  })

  test('Expect: 100-continue is answered, and the body forwarded', async () => {
    const continued = await new Promise<boolean>((resolve, reject) => {
      let sawContinue = false
      const headers = { authorization, expect: '100-continue', 'content-length': chatBody.length }
      const request = httpRequest(world.gateway.url + chatPath, { method: 'POST', headers })
      request.on('continue', () => {
        sawContinue = true
        request.end(chatBody)
      })
      request.on('response', (response) => response.resume().on('end', () => resolve(sawContinue)))
      request.on('error', reject)
      request.flushHeaders()
    })
    expect(continued).toBe(true)
    expect(world.upstream.requests[0]?.body.toString()).toBe(chatBody)
  })

  test('an answer larger than any buffer reaches a slow reader whole', async () => {
    const body = randomBytes(24 * 1024 * 1024)
    world.upstream.answer(sized('200 OK', ['Content-Type: application/octet-stream'], body))
    const response = await world.post()
    const hash = createHash('sha256')
    const parts = (response.body ?? []) as AsyncIterable<Uint8Array>
    for await (const part of parts) {
      hash.update(part)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(hash.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'))
    expect((await world.recordOf(idOf(response)))?.['response_body']).toMatchObject({
      truncated: true,
      bytes: body.length,
    })
  })

  test('fifty at once get each their own answer', async () => {
    world.upstream.answer((socket, request) =>
      sized('200 OK', json, `{"echo":${request.body.toString()}}`)(socket, request),
    )
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const response = await world.post(chatPath, { body: `{"n":${n}}` })
        return { id: idOf(response), n, text: await response.text() }
      }),
    )
    for (const { n, text } of answers) expect(text).toBe(`{"echo":{"n":${n}}}`)
    for (const { id, n } of answers) expect((await world.recordOf(id))?.['request_body']).toEqual({ n })
  })
})

describe('keys', () => {
  test.each<[string, Record<string, string>]>([
    ['none', {}],
    ['a wrong one', { authorization: 'Bearer nope' }],
    ['another scheme', { authorization: `Basic ${proxyKey}` }],
    ['the start of one', { authorization: 'Bearer a-proxy' }],
  ])('%s is 401 in the shape of OpenAI, and nothing is forwarded', async (_name, headers) => {
    const response = await fetch(world.gateway.url + chatPath, { method: 'POST', body: chatBody, headers })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', code: 'invalid_api_key' },
    })
    expect(idOf(response)).toMatch(/^req_/)
    expect(world.upstream.requests).toHaveLength(0)
  })

  test('two Authorization headers are refused: the provider might take the other', async () => {
    const answer = await world.exchange(
      `GET / HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
  })

  test.each(['x-api-key', 'api-key', 'x-goog-api-key', 'X-Service-Key'])(
    'one in %s is taken out, and what the application sends beside it passes',
    async (name) => {
      const theirs = { authorization: 'Bearer subscription' }
      for (const environment of [{}, { UPSTREAM_API_KEY: 'up', UPSTREAM_API_KEY_HEADER: 'x-up' }]) {
        const own = await world.startAnother(environment)
        const response = await fetch(own.url + chatPath, {
          method: 'POST',
          body: chatBody,
          headers: { ...theirs, [name]: proxyKey },
        })
        expect(response.status).toBe(200)
        await response.text()
        await own.stop()
        const text = world.upstream.requests.at(-1)?.lines.join('\n') ?? ''
        expect(text).toMatch(/^authorization: Bearer subscription$/m)
        expect(text).not.toContain(proxyKey)
        expect(text.includes('x-up: up')).toBe('UPSTREAM_API_KEY' in environment)
      }
    },
  )

  test('two different ones are 401, and nothing is forwarded', async () => {
    const own = await world.startAnother({ PROXY_API_KEY: `${proxyKey},another-key` })
    const headers = { authorization, 'x-api-key': 'another-key' }
    const response = await fetch(own.url + chatPath, { method: 'POST', body: chatBody, headers })
    expect(response.status).toBe(401)
    await own.stop()
    expect(world.upstream.requests).toHaveLength(0)
  })

  test.each<[string, Record<string, string>, string]>([
    ['as a bearer token', {}, 'Authorization: Bearer up'],
    ['in a header of its own', { UPSTREAM_API_KEY_HEADER: 'api-key' }, 'api-key: up'],
  ])("the provider's key %s replaces the application's", async (_name, environment, line) => {
    const own = await world.startAnother({ UPSTREAM_API_KEY: 'up', ...environment })
    await (await world.post(chatPath, { headers: { 'api-key': 'theirs' } }, own)).text()
    const text = world.upstream.requests[0]?.lines.join('\n') ?? ''
    expect(text).toContain(line)
    expect(text).not.toContain(proxyKey)
    await own.stop()
  })
})

test('trailers of the answer pass', async () => {
  world.upstream.answer((socket) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n${chunk('{"a":1}')}0\r\nX-Sum: 7\r\nx-sum: 8\r\n\r\n`,
    ),
  )
  const answer = await world.exchange(
    `POST ${chatPath} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\nTE: trailers\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
  )
  expect(answer).toMatch(/\r\n7\r\n\{"a":1\}\r\n0\r\nX-Sum: 7\r\nx-sum: 8\r\n\r\n$/)
})
