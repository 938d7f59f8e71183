import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { startOperationsServer, type OperationsServer } from './operations-server.ts'

let server: OperationsServer

afterEach(() => server.close())

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
  return () => fetch(`http://127.0.0.1:${server.port}/metrics`)
}

test('connections are kept longer than Prometheus pauses', async () => {
  await startTelling('sluice_up 1\n')
  const agent = new Agent({ keepAlive: true })
  const [response] = (await once(get({ port: server.port, path: '/metrics', agent }), 'response')) as [
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
