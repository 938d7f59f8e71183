import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createServer, globalAgent, type AgentOptions } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { listen } from '../../../runtime/operations-server.ts'
import { createPoster } from './post-json.ts'

/** A proxy that accepts CONNECT and never answers. */
const asked: (string | undefined)[] = []
const silent = createServer()
  .on('connection', (socket: Socket) => socket.unref())
  .on('connect', ({ method }, socket) => {
    asked.push(method)
    socket.on('error', () => undefined)
  })
const { options } = globalAgent as unknown as { options: AgentOptions }
const before = options.proxyEnv

beforeAll(async () => {
  await listen(silent, 0, '127.0.0.1')
  options.proxyEnv = { HTTPS_PROXY: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` }
})
afterAll(() => {
  options.proxyEnv = before
  silent.close()
})

test('a proxy that never lets through is given up after the time for an answer, and keeps no program meanwhile', async () => {
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  const held = sockets()
  const poster = createPoster('https://sluice.invalid', {})
  const posted = poster.post('/internal/log', Buffer.from('{}'), 300)
  expect(sockets()).toBe(held)
  await expect(posted).rejects.toThrow('no answer within 300 ms')
  // On a busy machine the posts may end before they reach the proxy.
  while (asked.length < 2)
    await expect(poster.post('/internal/log', Buffer.from('{}'), 300)).rejects.toThrow(
      'no answer within 300 ms',
    )
  expect(new Set(asked)).toEqual(new Set(['CONNECT']))
  poster.close()
  await expect(poster.post('/internal/log', Buffer.from('{}'), 300)).rejects.toThrow('closed')
})
