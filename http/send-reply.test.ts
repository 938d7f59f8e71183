import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import express from 'express'
import { sendReply } from './send-reply.ts'

test('a stream ends with its source when the client stops reading, and not while the source is slow', async () => {
  const ended = Promise.withResolvers<string>()
  let stalled = 0
  const options = { reserve: () => undefined, stalledMs: 50, onStalled: () => (stalled += 1) }
  const app = express()
  app.get('/endless', async (request, response) => {
    async function* chunks() {
      try {
        for (;;) yield await Promise.resolve('x'.repeat(65_536))
      } finally {
        ended.resolve('ended')
      }
    }
    await sendReply(request, response, { stream: { contentType: 'text/plain', chunks: chunks() } }, options)
  })
  app.get('/slow', async (request, response) => {
    const passed = Promise.withResolvers<string>()
    // After several timeouts of the socket.
    let times = 0
    request.socket.on('timeout', () => ++times === 3 && passed.resolve('done'))
    async function* chunks() {
      yield 'begun '
      yield await passed.promise
    }
    await sendReply(request, response, { stream: { contentType: 'text/plain', chunks: chunks() } }, options)
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1').pause()
  client.on('error', () => undefined)
  client.write('GET /endless HTTP/1.1\r\nhost: a\r\n\r\n')
  expect(await ended.promise).toBe('ended')
  client.destroy()
  expect(await (await fetch(`http://127.0.0.1:${port}/slow`)).text()).toBe('begun done')
  // The slow one was not counted.
  expect(stalled).toBe(1)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})
