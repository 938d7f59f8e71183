import type { Socket } from 'node:net'
import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { authorization, chatBody, chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { chunk } from '#tests/support/raw-upstream.ts'
import { until } from '#tests/support/until.ts'

const world = useGateway()
const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const event = (content: string) =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content } }] })}\n\n`

/** Starts a stream at the provider; resolves with its connection. */
function beginStream(): Promise<Socket> {
  return new Promise((resolve) =>
    world.upstream.answer((socket) => {
      socket.write(head + chunk(event('par')))
      resolve(socket)
    }),
  )
}

test('a stream that outlasts the deadline is broken off, recorded and sent; so is a call that waits for its answer', async () => {
  const gateway = await world.startAnother({ DRAIN_DEADLINE_MS: '400' })
  void beginStream()
  const stream = await world.post(chatPath, {}, gateway)
  world.upstream.answer(() => undefined)
  const waiting = world.post(chatPath, {}, gateway)
  await until(() => world.upstream.requests.length === 2)
  await Promise.all([gateway.stop(), expect(stream.text()).rejects.toThrow()])
  expect((await waiting).status).toBe(504)
  const recordOf = (id: string | null) => world.receiver.taken.find((record) => record.id === id)
  expect(recordOf(idOf(stream))).toMatchObject({
    aborted_by: 'upstream',
    error: expect.stringContaining('the gateway is stopping'),
    response_body: { choices: [{ message: { content: 'par' } }] },
  })
  expect(recordOf(idOf(await waiting))).toMatchObject({ status_code: 504 })
})

test('what is heard out for an application that has gone is recorded and sent before the gateway ends', async () => {
  const gateway = await world.startAnother({ CLIENT_GONE: 'drain' })
  const begun = beginStream()
  const leaving = new AbortController()
  const response = await world.post(chatPath, { signal: leaving.signal }, gateway)
  await response.body?.getReader().read()
  leaving.abort()
  const socket = await begun
  const stopped = gateway.stop()
  // The applications' connections are closed; the provider continues afterwards.
  await until(() => gateway.gateway.health().status === 'stopping')
  setTimeout(() => socket.write(`${chunk(event('tial') + 'data: [DONE]\n\n')}0\r\n\r\n`), 300)
  await stopped
  expect(world.receiver.taken.find(({ id }) => id === idOf(response))).toMatchObject({
    aborted_by: null,
    response_body: { choices: [{ message: { content: 'partial' } }] },
  })
})

test('while load balancers learn that it stops, calls are answered on connections that end', async () => {
  const gateway = await world.startAnother({ DRAIN_LEAD_MS: '3000' })
  const stopped = gateway.stop()
  expect(gateway.gateway.health().status).toBe('stopping')
  const call = request(gateway.url + chatPath, { method: 'POST', headers: { authorization } })
  call.end(chatBody)
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, 'close'])
  answer.resume()
  await stopped
  await expect(world.post(chatPath, {}, gateway)).rejects.toThrow()
})
