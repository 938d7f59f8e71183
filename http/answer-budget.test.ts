import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Request, Response } from 'express'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { until } from '#tests/support/until.ts'
import type { Principal } from './access/principal.ts'
import { createAnswerBudget } from './answer-budget.ts'
import { createBodyBudget } from './body-budget.ts'
import { createApp } from './create-app.ts'
import { route, type Route } from './route.ts'

const mebibyte = 1024 * 1024
/** More than the kernel buffers for a client that reads nothing. */
const answerBytes = 12 * mebibyte
const metrics = createMetrics()
const made = route({
  method: 'get',
  path: '/made',
  access: 'read',
  tag: '',
  summary: '',
  reply: { status: 200, description: '' },
  handle: () => Promise.resolve({ etag: 'x', jsonText: `"${'x'.repeat(answerBytes - 2)}"` }),
})
let comes: (() => void) | undefined
const madeLater: Route = {
  ...made,
  path: '/made-later',
  handle: async (request) => {
    await new Promise<void>((resolve) => (comes = resolve))
    return made.handle(request)
  },
}
const written: Route = {
  ...made,
  method: 'post',
  path: '/written',
  handle: () => Promise.resolve({ json: 'x'.repeat(mebibyte / 8) }),
}
const app = createApp({
  routes: [made, madeLater, written],
  authenticate: ({ who }) => Promise.resolve(principalOf(String(who))),
  bodyBudget: createBodyBudget(mebibyte, metrics),
  answerBudget: createAnswerBudget(4 * answerBytes, metrics),
  health: () => ({ status: 'ok' }),
  log: createLog('test', 'silent'),
  metrics,
})
const server = createServer(app)
let port: number
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

function principalOf(projectId: string): Principal {
  const project = { projectId, tier: 'pro', zeroContentRetention: false } as const
  return { kind: 'key', key: { keyId: projectId, scope: 'all', expiresAtMs: null, project } }
}

const valueOf = async (metric: string) =>
  (await metrics.registry.getSingleMetric(metric)?.get())?.values[0]?.value

/** Sends a request and reads nothing of the answer. */
async function askOnly(who: string, path = '/made'): Promise<Socket> {
  const client = connect(port, '127.0.0.1').pause()
  client.on('error', () => undefined)
  await once(client, 'connect')
  client.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nwho: ${who}\r\n\r\n`)
  return client
}
const held = (answers: number) =>
  until(async () => (await valueOf('sluice_http_answer_bytes')) === answers * answerBytes)
const ask = (who: string) => fetch(`http://127.0.0.1:${port}/made`, { headers: { who } })

test('answers that are not read have room together, and leave others as much as one project takes', async () => {
  const clients = [await askOnly('a'), await askOnly('a')]
  await held(2)
  const refused = await ask('a')
  expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('etag')]).toEqual([
    503,
    '1',
    null,
  ])
  expect(await refused.json()).toMatchObject({ code: 'ANSWERS_TOO_MANY' })
  clients.push(await askOnly('b'))
  await held(3)
  expect([(await ask('b')).status, (await ask('c')).status]).toEqual([503, 503])
  // A write that is done must be answered: a 503 would have it repeated.
  const wrote = await fetch(`http://127.0.0.1:${port}/written`, { method: 'POST', headers: { who: 'b' } })
  expect([wrote.status, (await wrote.text()).length]).toEqual([200, mebibyte / 8 + 2])
  expect(await valueOf('sluice_http_answers_refused_total')).toBe(3)

  for (const client of clients.splice(0, 2)) client.destroy()
  await held(1)
  expect(await (await ask('c')).text()).toHaveLength(answerBytes)
  clients[0]?.destroy()
  await held(0)
})

test('an answer that comes out longer than was thought takes what is missing, and no more', async () => {
  const own = createMetrics()
  const taken = async () =>
    (await own.registry.getSingleMetric('sluice_http_answer_bytes')?.get())?.values[0]?.value
  const request: unknown = { method: 'GET' }
  const stream = new PassThrough()
  const response: unknown = stream
  const reservation = createAnswerBudget(mebibyte, own).enter(
    principalOf('a'),
    request as Request,
    response as Response,
  )
  reservation.reserve(100_000)
  reservation.reserve(300_000)
  reservation.reserve(200_000)
  expect(await taken()).toBe(300_000)
  stream.destroy()
  await once(stream, 'close')
  expect(await taken()).toBe(0)
})

test('an answer whose client left before it was made holds nothing', async () => {
  const client = await askOnly('a', '/made-later')
  await until(() => Promise.resolve(comes !== undefined))
  const connections = promisify(server.getConnections.bind(server))
  client.destroy()
  await until(async () => (await connections()) === 0)
  comes?.()
  // Answered after the first one has ended, on the same loop.
  expect(await (await ask('a')).text()).toHaveLength(answerBytes)
  await held(0)
})
