import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { authorization, chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { chunk, sized } from '#tests/support/raw-upstream.ts'
import { until } from '#tests/support/until.ts'

const world = useGateway()

describe('streams', () => {
  const event = (content: string, finish: string | null = null) =>
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

  test('each chunk passes before the next is sent, and the record has the message', async () => {
    const socketReady = Promise.withResolvers<Socket>()
    world.upstream.answer((socket) => {
      socket.write(head)
      socketReady.resolve(socket)
    })
    // The headers arrive before the first chunk.
    const response = await world.post()
    const reader = response.body?.getReader()
    const socket = await socketReady.promise
    const decoder = new TextDecoder()
    for (const word of ['a', 'b', 'c']) {
      socket.write(chunk(event(word)))
      expect(decoder.decode((await reader?.read())?.value as Uint8Array)).toBe(event(word))
    }
    socket.write(`${chunk(event('', 'stop') + 'data: [DONE]\n\n')}0\r\n\r\n`)
    let ended = false
    while (!ended) ended = (await reader?.read())?.done ?? true
    const record = await world.recordOf(idOf(response))
    expect(record).toMatchObject({
      aborted_by: null,
      response_body: {
        object: 'chat.completion',
        choices: [{ message: { content: 'abc' }, finish_reason: 'stop' }],
      },
    })
    expect(record?.['time_to_first_token_ms']).toBeGreaterThan(0)
  })

  test('the first token is not the first byte: comments and an event without a word come before it', async () => {
    const socketReady = Promise.withResolvers<Socket>()
    world.upstream.answer((socket) => {
      socket.write(head + chunk(`: PROCESSING\n\n${event('')}`))
      socketReady.resolve(socket)
    })
    const response = await world.post()
    const [reader, socket] = [response.body?.getReader(), await socketReady.promise]
    await reader?.read()
    await sleep(300)
    socket.write(chunk(event('a')))
    await reader?.read()
    // It has arrived: what follows is later, however busy the machine is.
    await sleep(300)
    socket.write(`${chunk(event('b', 'stop') + 'data: [DONE]\n\n')}0\r\n\r\n`)
    while (!((await reader?.read())?.done ?? true));
    const record = await world.recordOf(idOf(response))
    expect(record?.['time_to_first_token_ms']).toBeGreaterThan(290)
    expect(record?.['time_to_first_token_ms']).toBeLessThan(Number(record?.['latency_ms']) - 200)
  })

  test('the application goes: the provider is told, and what came is recorded', async () => {
    world.upstream.answer((socket) => socket.write(head + chunk(event('par'))))
    const leaving = new AbortController()
    const response = await world.post(chatPath, { signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
    await until(() => world.upstream.closed() > 0)
    expect(await world.recordOf(idOf(response))).toMatchObject({
      aborted_by: 'client',
      status_code: 200,
      response_body: { choices: [{ message: { content: 'par' } }] },
    })
  })

  test('drained by configuration: the provider is heard out, at length', async () => {
    const own = await world.startAnother({ CLIENT_GONE: 'drain', CAPTURE_MAX_BYTES: '65536' })
    const socketReady = Promise.withResolvers<Socket>()
    world.upstream.answer((socket) => {
      socket.write(head + chunk(event('par')))
      socketReady.resolve(socket)
    })
    const leaving = new AbortController()
    const response = await world.post(chatPath, { signal: leaving.signal }, own)
    await response.body?.getReader().read()
    leaving.abort()
    const socket = await socketReady.promise
    const longerThanABody = `: ${' '.repeat(100_000)}\n\n`
    socket.write(`${chunk(longerThanABody + event('tial', 'stop') + 'data: [DONE]\n\n')}0\r\n\r\n`)
    expect(await world.recordOf(idOf(response))).toMatchObject({
      aborted_by: null,
      response_body: { choices: [{ message: { content: 'partial' } }] },
    })
    await own.stop()
  })

  test('the provider breaks off: the application sees a break, and what came is recorded', async () => {
    world.upstream.answer((socket) => {
      socket.write(head + chunk(event('par')))
      setTimeout(() => socket.destroy(), 20)
    })
    const response = await world.post()
    await expect(response.text()).rejects.toThrow()
    const record = await world.recordOf(idOf(response))
    expect(record).toMatchObject({
      aborted_by: 'upstream',
      status_code: 200,
      response_body: { choices: [{ message: { content: 'par' } }] },
    })
    expect(record?.['error']).toBeTruthy()
  })
})

test('chunks of any length reach a reader of HTTP/1.1 in chunks, one of HTTP/1.0 without, and the connection serves the next call', async () => {
  const texts = [1, 16_384, 16_385, 200_000].map((length) => 'x'.repeat(length))
  world.upstream.answer((socket) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${texts.map(chunk).join('')}0\r\n\r\n`,
    ),
  )
  const request = (version: string, more: string) =>
    `POST ${chatPath} HTTP/${version}\r\nHost: h\r\nAuthorization: ${authorization}\r\n${more}Content-Length: 2\r\n\r\n{}`
  for (let call = 0; call < 2; call++) expect(await (await world.post()).text()).toBe(texts.join(''))
  const two = await world.exchange(request('1.1', '') + request('1.1', 'Connection: close\r\n'))
  expect(two.match(/\r\n0\r\n\r\n/g)).toHaveLength(2)
  const plain = await world.exchange(request('1.0', ''))
  expect(plain.slice(plain.indexOf('\r\n\r\n') + 4)).toBe(texts.join(''))
})

describe('the provider fails', () => {
  test('unreachable: 502, recorded', async () => {
    await world.upstream.stop()
    const response = await world.post()
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_unreachable' } })
    const record = await world.recordOf(idOf(response))
    expect(record).toMatchObject({ status_code: 502, response_body: null, aborted_by: null })
    expect(record?.['error']).toMatch(/could not reach/)
  })

  test('silent: 504, recorded', async () => {
    const own = await world.startAnother({ UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '200' })
    world.upstream.answer(() => undefined)
    const response = await world.post(chatPath, {}, own)
    expect(response.status).toBe(504)
    expect(await world.recordOf(idOf(response))).toMatchObject({ status_code: 504, response_body: null })
    await own.stop()
  })

  test('sends what nobody asked for: it is not the answer to the next call', async () => {
    const answered = Promise.withResolvers<Socket>()
    world.upstream.answer((socket, request) => {
      sized('200 OK', [], request.body)(socket, request)
      answered.resolve(socket)
    })
    await (await world.post()).text()
    const socket = await answered.promise
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged')
    expect(await (await world.post(chatPath, { body: '{"next":1}' })).text()).toBe('{"next":1}')
    await until(() => world.upstream.closed() > 0)
  })

  test('answers nonsense: 502', async () => {
    world.upstream.answer((socket) => socket.end('SMTP hello\r\n\r\n'))
    expect((await world.post()).status).toBe(502)
  })
})

test('headers beyond ASCII pass byte for byte, also ahead of the body', async () => {
  const named = Buffer.from('attachment; filename="\u6587 \u00e9.pdf"').toString('latin1')
  const lines = ['X-Latin: caf\u00e9', `Content-Disposition: ${named}`]
  let writeBody: (() => void) | undefined
  world.upstream.answer((socket) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Length: 4\r\n${lines.join('\r\n')}\r\n\r\n`
    socket.write(head, 'latin1')
    writeBody = () => socket.write('body')
  })
  const socket = connect(world.gateway.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (data) => (answer += data.toString('latin1')))
  socket.write(`GET /v1/files/x/content HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\n\r\n`)
  await until(() => answer.endsWith('\r\n\r\n'))
  for (const line of lines) expect(answer.split('\r\n')).toContain(line)
  writeBody?.()
  await until(() => answer.endsWith('body'))
  socket.destroy()
})
