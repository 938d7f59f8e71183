import { once } from 'node:events'
import { Agent, createServer, request, type RequestListener, type Server } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { listen } from './operations-server.ts'
import { stopListening } from './stop-listening.ts'

async function serve(handler: RequestListener): Promise<{ server: Server; get: () => Promise<string> }> {
  // As behind a load balancer: connections are kept for the next request.
  const server = createServer({ keepAliveTimeout: 3_600_000 }, handler)
  await listen(server, 0, '127.0.0.1')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  const get = async () => {
    const call = request({ host: '127.0.0.1', port, agent }).end()
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    answer.resume()
    return `${answer.statusCode} ${answer.headers.connection}`
  }
  return { server, get }
}

test('while load balancers learn that it stops, requests are answered on connections that end', async () => {
  const { server, get } = await serve((_request, response) => response.end('well'))
  const stopped = stopListening(server, 1_000)
  expect(await get()).toBe('200 close')
  await stopped
  await expect(get()).rejects.toThrow('ECONNREFUSED')
})

test('a connection whose answer had begun is not waited for once it is idle', async () => {
  const begun = Promise.withResolvers<() => void>()
  const { server, get } = await serve((_request, response) => begun.resolve(() => response.end('well')))
  const answer = get()
  const finish = await begun.promise
  const stopped = stopListening(server, 0)
  while (server.listening) await setImmediate()
  finish()
  expect(await answer).toMatch(/^200/)
  await stopped
})
