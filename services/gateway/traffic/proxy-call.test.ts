import { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { authorization, chatPath, useGateway } from '#tests/support/gateway-fixture.ts'
import { chunk, sized, type RawAnswer } from '#tests/support/raw-upstream.ts'
import type { RunningGateway } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'
import { Spool } from '../spool/spool.ts'

const world = useGateway()
const request = `POST ${chatPath} HTTP/1.1\r\nHost: h\r\nAuthorization: ${authorization}\r\nContent-Length: 2\r\n\r\n{}`
const eventStream = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

let gateway: RunningGateway
/** The record: requested, and released. */
let begun: PromiseWithResolvers<undefined>
let allowed: PromiseWithResolvers<undefined>
let ended: { mock: { contexts: unknown[] } }
let client: Socket
let received: string

beforeEach(async () => {
  begun = Promise.withResolvers()
  allowed = Promise.withResolvers()
  const append = Reflect.get(Spool.prototype, 'append')
  jest.spyOn(Spool.prototype, 'append').mockImplementation(async function (this: Spool, ...args) {
    begun.resolve(undefined)
    await allowed.promise
    return append.apply(this, args)
  })
  ended = jest.spyOn(ServerResponse.prototype, 'end')
  gateway = await world.startAnother({ SPOOL_WAIT_MS: '60000' })
  client = connect(gateway.port, '127.0.0.1')
  received = ''
  client.on('data', (bytes) => (received += bytes.toString('latin1')))
})
afterEach(async () => {
  allowed.resolve(undefined)
  client.destroy()
  await gateway.stop()
  jest.restoreAllMocks()
})

/** Paths of the requests whose answers have ended. */
const pathsEnded = () => ended.mock.contexts.map((response) => (response as ServerResponse).req.url)

const inTwoPieces: RawAnswer = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a":')
  void until(() => received.endsWith('{"a":')).then(() => socket.write('"b"}'))
}

test.each<[string, RawAnswer, last: string]>([
  ['of known length, in two pieces', inTwoPieces, '{"a":"b"}'],
  ['of known length, in one', sized('200 OK', [], '{"a":"b"}'), '{"a":"b"}'],
  ['in chunks', (socket) => socket.write(`${eventStream}${chunk('data: 1\n\n')}0\r\n\r\n`), '\r\n0\r\n\r\n'],
  ["of the gateway's own, where none came", (socket) => socket.destroy(), '"upstream_unreachable"}}'],
])('the end of an answer %s waits until its record is on disk', async (_name, answer, last) => {
  world.upstream.answer(answer)
  client.write(request)
  await begun.promise
  // Whatever does not wait for the write is done by now.
  await new Promise((resolve) => setImmediate(resolve))
  expect(pathsEnded()).not.toContain(chatPath)
  allowed.resolve(undefined)
  await until(() => received.endsWith(last))
  expect(pathsEnded()).toContain(chatPath)
})
