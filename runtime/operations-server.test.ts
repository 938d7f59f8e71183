import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { listen, startOperationsServer, type OperationsServer } from './operations-server.ts'

let server: OperationsServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
})

/** Answers /metrics with each of these in turn; an error is what asking for them comes to. */
async function startTelling(...told: (string | Error)[]): Promise<() => Promise<Response>> {
  server = await startOperationsServer({
    host: '127.0.0.1',
    port: 0,
    health: () => ({ status: 'ok' }),
    metrics: createMetrics(),
    metricsText: () => {
      const next = told.shift() ?? ''
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
    },
    log: createLog('test', 'silent'),
  })
  const { port } = server
  return () => fetch(`http://127.0.0.1:${port}/metrics`)
}

test('connections are kept longer than Prometheus pauses', async () => {
  await startTelling('sluice_up 1\n')
  const agent = new Agent({ keepAlive: true })
  const [response] = (await once(get({ port: server?.port, path: '/metrics', agent }), 'response')) as [
    IncomingMessage,
  ]
  expect(response.headers['keep-alive']).toBe('timeout=65')
  agent.destroy()
})

test('metrics that cannot be had are answered 500, and the next question is answered', async () => {
  const ask = await startTelling(new Error('not the same buckets'), 'sluice_up 1\n')
  const answer = async () => {
    const response = await ask()
    return `${response.status} ${await response.text()}`
  }
  expect(await answer()).toBe('500 {"detail":"this question could not be answered; the log says why"}')
  expect(await answer()).toBe('200 sluice_up 1\n')
})

describe('a server that listens on ::', () => {
  const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ family }) => family === 'IPv6'),
  )
  const answering = () => createServer((_request, response) => response.end('here'))
  const close = (listening: Server) => new Promise((resolve) => listening.close(resolve))
  const ask = async (listening: Server, host: string) => {
    const { port } = listening.address() as AddressInfo
    return (await fetch(`http://${host}:${port}`, { headers: { connection: 'close' } })).text()
  }

  test('answers over IPv4, and over IPv6 where the host has it', async () => {
    const listening = answering()
    await listen(listening, 0, '::')
    try {
      expect(await ask(listening, '127.0.0.1')).toBe('here')
      if (hasIPv6) expect(await ask(listening, '[::1]')).toBe('here')
      else process.stderr.write('NOT SHOWN: this host has no IPv6\n')
    } finally {
      await close(listening)
    }
  })

  // As the kernel refuses such a socket where IPv6 is switched off.
  test.each(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])(
    'answers over IPv4 where there is no IPv6: %s',
    async (code) => {
      const listening = answering()
      const bind = listening.listen.bind(listening) as (...given: unknown[]) => Server
      listening.listen = ((port: number, host: string, done: () => void) => {
        if (host !== '::') return bind(port, host, done)
        process.nextTick(() => listening.emit('error', Object.assign(new Error('no IPv6'), { code })))
        return listening
      }) as typeof listening.listen
      await listen(listening, 0, '::')
      try {
        expect(await ask(listening, '127.0.0.1')).toBe('here')
      } finally {
        await close(listening)
      }
    },
  )

  test('says of an address that cannot be had which it is', async () => {
    const [one, other] = [answering(), answering()]
    await listen(one, 0, '::')
    const { port } = one.address() as AddressInfo
    const place = hasIPv6 ? `[::]:${port}` : `0.0.0.0:${port}`
    try {
      await expect(listen(other, port, '::')).rejects.toThrow(`cannot listen on ${place}: listen EADDRINUSE`)
    } finally {
      await close(one)
    }
  })
})
