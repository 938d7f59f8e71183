import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

let api: RunningApi
let project: { projectId: string; key: string }

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
})
afterAll(() => api.stop())

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/api/v1/webhooks${path}`, { key: project.key, ...(body === undefined ? {} : { body }) })
const create = () =>
  call('POST', '', { url: 'https://receiver.example.com/hook', events: ['threat_detected'] })

test('the list of webhooks says how each is, and operations say which fail', async () => {
  const [failing, well, unused] = [await create(), await create(), await create()].map(({ json }) =>
    String(json['id']),
  )
  const deliver = async (webhookId: string, status: string, hoursAgo: number, answered: number) => {
    const id = newId('delivery')
    await api.pool.query(
      `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status,
         attempt_count, created_at)
       values ($1, $2, $3, $4, 'threat_detected', now(), '{}', $5, 1, now() - $6 * interval '1 hour')`,
      [...[id, webhookId, project.projectId, newId('event')].map(idToUuid), status, hoursAgo],
    )
    await api.pool.query(
      `insert into webhook_attempts values ($1, 1, now(), now(), now(), $2::integer, 12.5, $3)`,
      [idToUuid(id), answered, answered < 300 ? null : `answered ${answered}`],
    )
  }
  await deliver(String(well), 'failed', 30, 500)
  await deliver(String(well), 'failed', 5, 500)
  for (const hour of [4, 3, 2]) await deliver(String(well), 'delivered', hour, 204)
  for (const hour of [2, 1]) await deliver(String(failing), hour === 2 ? 'failed' : 'retrying', hour, 503)
  const listed = (await call('GET', '')).json['items'] as Record<string, unknown>[]
  const healthOf = (id: unknown) => {
    const { last_result, last_day } = listed.find((webhook) => webhook['id'] === id) ?? {}
    return { last_result, last_day }
  }
  const at = expect.any(String)
  expect([healthOf(failing), healthOf(well), healthOf(unused)]).toEqual([
    {
      last_result: { status: 'retrying', at, status_code: 503, error: 'answered 503' },
      last_day: { deliveries: 2, failed: 2, failure_share: 1 },
    },
    {
      last_result: { status: 'delivered', at, status_code: 204, error: null },
      last_day: { deliveries: 4, failed: 1, failure_share: 0.25 },
    },
    { last_result: null, last_day: { deliveries: 0, failed: 0, failure_share: null } },
  ])
  expect((await call('GET', `/${failing}`)).json).toMatchObject(healthOf(failing))
  // Another project's health is not shown.
  const stranger = await api.createProject()
  expect((await api.call('GET', '/api/v1/webhooks', stranger)).json['items']).toEqual([])
  const { json } = await api.call('GET', '/api/operations', { operator: true })
  expect(json['failing_webhooks']).toEqual([
    { id: failing, project_id: project.projectId, deliveries: 2, failed: 2 },
  ])
  expect(json['health']).toMatchObject({
    status: 'degraded',
    problems: {
      webhooks: `in the last day half or more of the deliveries failed to ${failing} of ${project.projectId}: 2 of 2 failed`,
    },
  })
})
