import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { answerWithProblems } from './answer-broken-requests.ts'
import { createAnswerBudget } from './answer-budget.ts'
import { createBodyBudget } from './body-budget.ts'
import { createApp } from './create-app.ts'
import { createHttpServer } from './http-server.ts'

/** The response to these bytes, until the server closes the connection. */
async function send(bytes: string, handler: RequestListener = () => undefined): Promise<string> {
  const server = createHttpServer(handler, { host: '127.0.0.1', port: 0, leadMs: 0 })
  await server.start()
  const socket = connect(server.port(), '127.0.0.1')
  socket.write(bytes)
  const answer = await text(socket)
  socket.destroy()
  await server.stop()
  return answer
}

const start = 'GET / HTTP/1.1\r\nHost: x\r\n'
const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'

test.each([
  ['a method that HTTP does not know', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'BAD_REQUEST'],
  ['an address as it was typed', 'GET /?model=é HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'BAD_REQUEST'],
  ['what is no HTTP', 'hello\r\n\r\n', 400, 'BAD_REQUEST'],
  ['a body that breaks its own coding', `${chunked}hello\r\n`, 400, 'BAD_REQUEST'],
  ['a request that names no host', 'GET / HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
  ['a request that names two hosts', `${start}Host: y\r\n\r\n`, 400, 'BAD_REQUEST'],
  ['chunks in HTTP/1.0', 'GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n', 400, 'BAD_REQUEST'],
  ['an expectation of its own', `${start}Expect: a-miracle\r\n\r\n`, 417, 'EXPECTATION_UNKNOWN'],
  ['large headers', `${start}X-A: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
])('%s is answered in JSON', async (_name, bytes, status, code) => {
  const [head = '', body = ''] = (await send(bytes)).split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*Content-Type: application/json`))
  expect(head).toContain(`Content-Length: ${body.length}`)
  expect(JSON.parse(body)).toEqual({ detail: expect.any(String), code })
})

test('a request that does not come whole in its time is answered in JSON', async () => {
  const server = createServer({ headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 })
  answerWithProblems(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(start)
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1.1 408 [^]*\r\n\r\n\{"detail":"[^"]+","code":"REQUEST_TOO_SLOW"\}$/)
  socket.destroy()
  await once(server.close(), 'close')
})

test('an address that has no path is answered in JSON, which express would answer with a page', async () => {
  const metrics = createMetrics()
  const app = createApp({
    routes: [],
    authenticate: () => Promise.resolve({ kind: 'anonymous' }),
    bodyBudget: createBodyBudget(1024, metrics),
    answerBudget: createAnswerBudget(1024, metrics),
    health: () => ({ status: 'ok' }),
    log: createLog('test', 'silent'),
    metrics,
  })
  const answer = await send('GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', app)
  expect(answer).toMatch(/^HTTP\/1.1 400 [^]*\{"detail":"[^"]+","code":"BAD_REQUEST"\}$/)
})

test('nothing is added to an answer that was given before the body had come', async () => {
  const answer = await send(`${chunked}hello\r\n`, (_request, response) => response.end('answer'))
  expect(answer).toMatch(/answer$/)
})

test('a whole request with rubbish behind it is answered first', async () => {
  const answer = await send(`${start}\r\nrubbish\r\n\r\n`, (_request, response) => {
    setImmediate(() => response.end('answer'))
  })
  expect(answer).toMatch(/^HTTP\/1.1 200 [^]*answerHTTP\/1.1 400 [^]*"BAD_REQUEST"\}$/)
})
