import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { createPriceTable } from '#capture/price-table.ts'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { until } from '#tests/support/until.ts'
import { createAnswerBudget } from '#http/answer-budget.ts'
import { createBodyBudget } from '#http/body-budget.ts'
import { createApp } from '#http/create-app.ts'
import { createLogCalls } from './log-calls.ts'
import { ingestRoutes, recordBytes } from './routes.ts'
import type { PublishCall } from './steps/publish-call.ts'

const project = { projectId: 'prj_a', tier: 'enterprise', zeroContentRetention: false } as const
const mebibyte = 1024 * 1024
const never = () => Promise.reject(new Error('not asked'))

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

interface Rooms {
  bodies: number
  answers: number
  publish: PublishCall
}

const waitingCalls = {
  ...{ waitMs: 0, takesOf: () => false },
  ...{ add: never, findDue: never, take: never, markPublished: never, count: never },
}

/** The routes for one project's key; `held`: bytes of the body budget that are taken. */
async function startApp({ bodies, answers, publish }: Rooms) {
  const metrics = createMetrics()
  const logCalls = createLogCalls({
    keys: { findKey: never, findProject: never, forgetProject: () => undefined },
    admit: never,
    publish,
    prices: createPriceTable([]),
    clock: systemClock,
    maxRecordBytes: mebibyte,
    metrics,
  })
  const app = createApp({
    routes: ingestRoutes({ logCalls, waitingCalls, maxRecordBytes: mebibyte, metrics }),
    authenticate: () =>
      Promise.resolve({ kind: 'key', key: { keyId: 'key_a', scope: 'all', expiresAtMs: null, project } }),
    bodyBudget: createBodyBudget(bodies, metrics),
    answerBudget: createAnswerBudget(answers, metrics),
    health: () => ({ status: 'ok' }),
    log: createLog('test', 'silent'),
    metrics,
  })
  const server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
    return once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  const post = (path: string, body: unknown) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: JSON.stringify(body) })
  const held = async () =>
    (await metrics.registry.getSingleMetric('sluice_http_body_bytes')?.get())?.values[0]?.value
  return { post, send: (records: object[]) => post('/internal/log/batch', { records }), held }
}

const good = { request_body: {} }

test('a batch whose answer has no room is refused before any of it is kept, or its records would be sent again under other ids', async () => {
  let kept = 0
  const { send } = await startApp({
    bodies: 64 * mebibyte,
    // A project has half of it, and an answer of over 256 KiB reserves memory.
    answers: 600 * 1024,
    publish: () => Promise.resolve(void (kept += 1)),
  })
  const wrong = {
    id: 1,
    model: 1,
    provider: 1,
    agent_name: 1,
    agent_tag: 1,
    session_id: 1,
    user_id: 1,
    error: 1,
  }
  const records = (goods: number, bads: number) => [...times(goods, good), ...times(bads, wrong)]
  const refused = await send(records(300, 600))
  expect([refused.status, await refused.json(), kept]).toMatchObject([503, { code: 'ANSWERS_TOO_MANY' }, 0])
  // Records without a result yet reserve memory too.
  const open = await send(records(600, 300))
  expect([open.status, kept]).toEqual([503, 0])
  const taken = await send(records(300, 200))
  expect([taken.status, kept]).toEqual([200, 300])
  expect(((await taken.json()) as { results: object[] }).results).toHaveLength(500)
})

test('records take room by their number, however small they are: a batch beyond it is 503, and one that never has room 413', async () => {
  const go = Promise.withResolvers<undefined>()
  let sent = 0
  const { post, send, held } = await startApp({
    // A project has half: 1,365 records without bodies.
    bodies: 16 * mebibyte,
    answers: 64 * mebibyte,
    publish: () => ((sent += 1), go.promise),
  })
  const first = send(times(1_000, good))
  await until(() => sent === 1_000)
  expect(await held()).toBeGreaterThan(1_000 * recordBytes)
  const second = await send(times(400, good))
  expect([second.status, second.headers.get('retry-after'), await second.json(), sent]).toMatchObject([
    503,
    '1',
    { code: 'BODIES_TOO_MANY' },
    1_000,
  ])
  const third = send(times(300, good))
  await until(() => sent === 1_300)
  const alone = await startApp({ bodies: 8 * mebibyte, answers: 64 * mebibyte, publish: never })
  const large = await alone.send(times(1_000, good))
  expect([large.status, await large.json()]).toMatchObject([
    413,
    { code: 'BODY_TOO_LARGE', detail: expect.stringContaining('fewer records') },
  ])
  go.resolve(undefined)
  expect([(await first).status, (await third).status]).toEqual([200, 200])
  expect((await post('/internal/log', good)).status).toBe(202)
  expect([await held(), await alone.held()]).toEqual([0, 0])
})

test('batches publish their records in turns with all else, one batch with the other', async () => {
  let round = 0
  let isOver = false
  const countRounds = () => {
    round += 1
    if (!isOver) setImmediate(countRounds)
  }
  setImmediate(countRounds)
  const rounds: number[] = []
  const { send } = await startApp({
    bodies: 64 * mebibyte,
    answers: 64 * mebibyte,
    publish: () => {
      rounds.push(round)
      // As long as a turn.
      for (const until = performance.now() + 11; performance.now() < until;);
      return Promise.resolve()
    },
  })
  await Promise.all(times(4, good).map(() => send(times(5, good))))
  isOver = true
  expect(rounds).toHaveLength(20)
  // The first record of a batch takes no turn.
  expect(new Set(rounds).size).toBeGreaterThanOrEqual(16)
})

test('what fails otherwise than by a problem fails its batch, and nothing besides', async () => {
  let sent = 0
  const { send } = await startApp({
    bodies: 64 * mebibyte,
    answers: 64 * mebibyte,
    publish: async () => {
      sent += 1
      for (const until = performance.now() + 11; performance.now() < until;);
      await Promise.reject(new Error('a defect'))
    },
  })
  expect((await send(times(3, good))).status).toBe(500)
  expect(sent).toBe(3)
})

function times(count: number, record: object): object[] {
  return Array.from({ length: count }, () => record)
}
