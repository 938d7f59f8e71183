import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '#tests/support/until.ts'
import { ambiguityOf, answerBrokenRequests, rawAnswer } from './answer-broken-requests.ts'

const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const refused = rawAnswer(400, { 'Content-Length': 7 }, 'refused')

let server: Server
let client: Socket
let received: string
let faults: string[]
/** By path, unanswered. */
let calls: Map<string, ServerResponse>

beforeEach(async () => {
  received = ''
  faults = []
  calls = new Map()
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    calls.set(request.url ?? '', response)
  })
  answerBrokenRequests(server, ['request'], (fault) => {
    faults.push(fault)
    return refused
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('data', (bytes) => (received += bytes.toString('latin1')))
})
afterEach(() => {
  client.destroy()
  server.close()
})

/** The status and body of each answer, once the connection is closed. */
async function answers(): Promise<string[]> {
  if (!client.closed) await once(client, 'close')
  return received.split(/(?=HTTP\/1\.1 )/).map((answer) => answer.replace(/ [^]*\r\n\r\n/, ' ').slice(9))
}
function answer(path: string, body: string, headers: Record<string, string> = {}): void {
  calls
    .get(path)
    ?.writeHead(200, { 'content-length': body.length, ...headers })
    .end(body)
}

describe('what follows whole requests and is none', () => {
  test.each([
    ['rubbish', '\u0000\u0001\r\n\r\n'],
    ['more of a body than its length', '"more"}'],
    ['half a request that never comes whole, and then rubbish', 'GET / HTTP/1.1\r\nHost: \u0000'],
  ])('%s: they are answered first, then it', async (_name, rubbish) => {
    client.write(post('/a', '{}') + post('/b', '{}') + rubbish)
    await until(() => faults.length > 0)
    // Whatever else comes is not looked at.
    client.write(rubbish)
    answer('/b', 'of b')
    answer('/a', 'of a')
    expect(await answers()).toEqual(['of a', 'of b', 'refused'])
    expect(faults).toEqual(['malformed'])
  })

  test('an answer that has begun goes on to its end', async () => {
    client.write(post('/a', '{}'))
    await until(() => calls.has('/a'))
    calls.get('/a')?.writeHead(200, { 'content-length': 8 }).write('half')
    await until(() => received.endsWith('half'))
    client.write('rubbish\r\n\r\n')
    await until(() => faults.length > 0)
    calls.get('/a')?.end('half')
    expect(await answers()).toEqual(['halfhalf', 'refused'])
  })

  test('an answer that closes its connection is the last', async () => {
    client.write(post('/a', '{}') + 'rubbish\r\n\r\n')
    await until(() => faults.length > 0)
    answer('/a', 'of a', { connection: 'close' })
    expect(await answers()).toEqual(['of a'])
  })

  test('a request after a whole one whose own body is broken is refused in its turn', async () => {
    client.write(`${post('/a', '{}')}POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`)
    await until(() => faults.length > 0)
    answer('/a', 'of a')
    expect(await answers()).toEqual(['of a', 'refused'])
  })
})

test('who goes while a whole request waits for its answer leaves nothing behind', async () => {
  client.write(post('/a', '{}') + 'rubbish\r\n\r\n')
  await until(() => faults.length > 0)
  client.destroy()
  await once(calls.get('/a') as ServerResponse, 'close')
  await new Promise((resolve) => server.close(resolve))
})

test.each([
  ['HTTP/1.1', 'Host: h:80', undefined],
  ['HTTP/1.1', 'Host: [::1]:8080', undefined],
  ['HTTP/1.1', 'Host:', undefined],
  ['HTTP/1.0', '', undefined],
  ['HTTP/1.1', '', 'the request names no Host, as HTTP/1.1 asks'],
  ['HTTP/1.1', 'Host: a\r\nHost: a', 'the request has more than one Host header'],
  ['HTTP/1.0', 'Host: a\r\nhost: b', 'the request has more than one Host header'],
  ['HTTP/1.1', 'Host: a, b', 'the Host header is not a host'],
  ['HTTP/1.1', 'Host: a/b', 'the Host header is not a host'],
  ['HTTP/1.1', 'Host: user@a', 'the Host header is not a host'],
  ['HTTP/1.0', 'Transfer-Encoding: chunked', 'HTTP/1.0 has no Transfer-Encoding'],
  ['HTTP/2.0', 'Host: a', 'the version is neither HTTP/1.1 nor HTTP/1.0'],
  ['HTTP/0.9', 'Host: a', 'the version is neither HTTP/1.1 nor HTTP/1.0'],
])('%s with "%s": %s', async (version, lines, ambiguity) => {
  const own = createServer({ requireHostHeader: false })
  await once(own.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((own.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`POST / ${version}\r\n${lines}${lines === '' ? '' : '\r\n'}\r\n`)
  const [request] = (await once(own, 'request')) as [IncomingMessage]
  expect(ambiguityOf(request)).toBe(ambiguity)
  socket.destroy()
  own.close()
})
