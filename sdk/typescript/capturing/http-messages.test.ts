import { once } from 'node:events'
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import express from 'express'
import { takeSnapshot } from './plain-value.ts'

const words = 'The card is 4111 1111 1111 1111'
const isCut = (value: unknown) => takeSnapshot(value).isCut

let server: Server
/** Handles the next request. */
let handle: (req: IncomingMessage, res: ServerResponse) => void
let agent: Agent

beforeEach(async () => {
  agent = new Agent({ keepAlive: true })
  server = createServer((req, res) => {
    handle(req, res)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  agent.destroy()
  server.closeAllConnections()
  server.close()
})

function ask(body: string) {
  const { port } = server.address() as AddressInfo
  const asked = request({ port, host: '127.0.0.1', agent, method: body === '' ? 'GET' : 'POST' })
  asked.setHeader('content-type', 'application/json').end(body)
  return asked
}

async function answerOf(body = words): Promise<IncomingMessage & { req: object }> {
  const [answer] = (await once(ask(body), 'response')) as [IncomingMessage & { req: object }]
  return answer
}

test('an answer of Axios has its request, agent and connection beside what was said: none of it is missing', async () => {
  handle = (_req, res) => res.end(words)
  const answer = await answerOf()
  const unread = { data: answer, request: answer.req, config: { httpAgent: agent } }
  expect(isCut(unread)).toBe(true)
  const read = { ...unread, data: await text(answer) }
  expect(takeSnapshot(read)).toMatchObject({
    value: {
      data: words,
      request: { agent: '[Agent]', res: { client: '[Socket]' } },
      config: { httpAgent: '[Agent]' },
    },
    isCut: false,
  })
})

test('a request is missing its answer until that has come', async () => {
  handle = (_req, res) => res.end(words)
  const asked = ask('')
  expect(isCut(asked)).toBe(true)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  expect(isCut(asked)).toBe(true)
  await text(answer)
  expect(isCut(asked)).toBe(false)
})

test('an answer that says no length has a body', async () => {
  handle = (_req, res) => res.socket?.end(`HTTP/1.1 200 OK\r\n\r\n${words}`)
  expect(isCut(await answerOf())).toBe(true)
})

test.each([
  ['{"q":1}', true, false],
  ['', false, false],
  ['', true, false],
  ['{"q":1}', false, true],
])('what Express gives a handler, of a request %p, its body read: %s', async (body, isRead, expected) => {
  const app = express()
  if (isRead) app.use(express.json())
  const seen: boolean[] = []
  app.use((req, res) => {
    seen.push(isCut([req]), isCut([res]))
    res.end()
  })
  handle = app
  await text(await answerOf(body))
  expect(seen).toEqual([expected, expected])
})

test('a stream has words until it has given them', async () => {
  const stream = Readable.from([words])
  expect(isCut(stream)).toBe(true)
  await text(stream)
  expect(isCut(stream)).toBe(false)
})

test('a connection by itself is a stream like any other', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  expect(isCut({ socket })).toBe(true)
  socket.destroy()
})
