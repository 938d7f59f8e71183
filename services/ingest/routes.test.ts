import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { createPriceTable } from '#capture/price-table.ts'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createAnswerRoom } from './http/answer-room.ts'
import { createBodyRoom } from './http/body-room.ts'
import { createApp } from './http/create-app.ts'
import { createLogCalls } from './log-calls.ts'
import { ingestRoutes } from './routes.ts'

const project = { projectId: 'prj_a', tier: 'enterprise', zeroContentRetention: false } as const
const never = () => Promise.reject(new Error('not asked'))

test('a batch whose answer has no room is refused before any of it is kept, or its records would be sent again under other ids', async () => {
  const metrics = createMetrics()
  let kept = 0
  const logCalls = createLogCalls({
    keys: { findKey: never, findProject: never, forgetProject: () => undefined },
    admit: never,
    publish: () => Promise.resolve(void (kept += 1)),
    prices: createPriceTable([]),
    clock: systemClock,
    maxRecordBytes: 1024 * 1024,
    metrics,
  })
  const app = createApp({
    routes: ingestRoutes({ logCalls, maxRecordBytes: 1024 * 1024 }),
    authenticate: () =>
      Promise.resolve({ kind: 'key', key: { keyId: 'key_a', scope: 'all', expiresAtMs: null, project } }),
    bodyRoom: createBodyRoom(64 * 1024 * 1024, metrics),
    // A project has half of it, and an answer of over 256 KiB needs room.
    answerRoom: createAnswerRoom(600 * 1024, metrics),
    health: () => ({ status: 'ok' }),
    log: createLog('test', 'silent'),
    metrics,
  })
  const server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const send = (records: object[]) =>
    fetch(`http://127.0.0.1:${port}/internal/log/batch`, {
      method: 'POST',
      body: JSON.stringify({ records }),
    })
  try {
    const good = Array.from({ length: 300 }, () => ({ request_body: {} }))
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
    const bad = (count: number) => Array.from({ length: count }, () => wrong)
    const refused = await send([...good, ...bad(600)])
    expect([refused.status, await refused.json(), kept]).toMatchObject([503, { code: 'ANSWERS_TOO_MANY' }, 0])
    // What is not decided yet takes room too.
    const open = await send([...good, ...good, ...bad(300)])
    expect([open.status, kept]).toEqual([503, 0])
    const taken = await send([...good, ...bad(200)])
    expect([taken.status, kept]).toEqual([200, 300])
    expect(((await taken.json()) as { results: object[] }).results).toHaveLength(500)
  } finally {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})
