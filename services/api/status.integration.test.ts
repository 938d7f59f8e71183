import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idTimeMs, idToUuid, newId } from '#schemas/ids.ts'
import { sampleCall } from '#services/sink/testing/sample-records.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type Answer, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { storeFailingCall } from '#tests/support/store-failing-call.ts'

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
  const standing = async (key: string) => (await api.call('GET', '/api/status', { key })).json
  expect((await standing(project.key))['failing_receivers']).toEqual([
    { id: failing, kind: 'webhook', deliveries: 2, failed: 2, is_disabled: false },
  ])
  expect((await standing(stranger.key))['failing_receivers']).toEqual([])
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

const itemsOf = (answer: Answer) => answer.json['items'] as Record<string, unknown>[]
const change = (key: string, id: string, body: object) =>
  api.call('PATCH', `/api/findings/${id}`, { key, body })

async function findingOf(
  { projectId, key }: typeof project,
  agent = 'a',
  severity: 'high' | 'critical' = 'high',
): Promise<string> {
  await storeFailingCall(api.pool, projectId, agent, { severity })
  return String(itemsOf(await api.call('GET', `/api/findings?agent_name=${agent}`, { key }))[0]?.['id'])
}

test('the status counts what is open by severity and age, and what waits for a score; not what is dismissed or muted', async () => {
  const project = await api.createProject()
  const id = await findingOf(project, 'old', 'critical')
  const muted = await findingOf(project, 'noisy')
  await findingOf(project, 'new')
  await api.pool.query(`update findings set opened_at = now() - interval '3 days' where id = $1`, [
    idToUuid(id),
  ])
  const status = async () => (await api.call('GET', '/api/status', { key: project.key })).json
  const none = { open: 0, last_day: 0, last_week: 0 }
  expect(await status()).toEqual({
    project_id: project.projectId,
    findings: [
      { severity: 'critical', open: 1, last_day: 0, last_week: 1 },
      { severity: 'high', open: 2, last_day: 2, last_week: 0 },
      { severity: 'medium', ...none },
    ],
    ...{ firing_rules: [], failing_receivers: [], scoring: { waiting: 0, oldest_at: null } },
  })
  await change(project.key, id, { state: 'false_alarm' })
  const until = new Date(Date.now() + 86_400_000).toISOString()
  await change(project.key, muted, { state: 'muted', muted_until: until })
  const [critical, high] = (await status())['findings'] as unknown[]
  expect([critical, high]).toEqual([
    { severity: 'critical', ...none },
    { severity: 'high', open: 1, last_day: 1, last_week: 0 },
  ])
})

test('the status says which rules fire, and how many calls wait for a score', async () => {
  const { projectId, key } = await api.createProject()
  const idAt = (secondsAgo: number) => newId('request', Date.now() - secondsAgo * 1_000)
  await storeFailingCall(api.pool, projectId, 'a', {}, { id: idAt(120) })
  const waiting = [idAt(150), idAt(90), idAt(1)].map((id) => sampleCall(projectId, { id }))
  await createCallStorage(api.pool).calls(waiting)
  const rule = { name: 'Nobody calls', metric: 'calls', window_minutes: 60, alert_threshold: 1 }
  const id = String((await api.call('POST', '/api/alert-rules', { key, body: rule })).json['id'])
  await api.pool.query(`update alert_states set status = 'alert' where rule_id = $1`, [idToUuid(id)])
  const { json } = await api.call('GET', '/api/status', { key })
  expect(json['scoring']).toEqual({
    waiting: 1,
    oldest_at: new Date(idTimeMs(waiting[1]?.id ?? '')).toISOString(),
  })
  expect(json['firing_rules']).toMatchObject([{ id, name: 'Nobody calls', status: 'alert' }])
})

test('projects with something wrong are listed to those who see them, the worst first', async () => {
  const [one, two] = [await api.createProject({ name: 'One' }), await api.createProject({ name: 'Two' })]
  await findingOf(one)
  await findingOf(two, 'a', 'critical')
  const reader = await signInPerson(api, 'viewer', [one.projectId, two.projectId])
  const listed = itemsOf(await reader.call('GET', '/api/status/projects'))
  expect(listed.map(({ name, critical, high, last_day }) => [name, critical, high, last_day])).toEqual([
    ['Two', 1, 0, 1],
    ['One', 0, 1, 1],
  ])
  const alone = await api.call('GET', '/api/status/projects', { key: one.key })
  expect(alone.json).toMatchObject({ total: 1, items: [{ project_id: one.projectId }] })
  const every = itemsOf(await api.call('GET', '/api/status/projects?page_size=200', { operator: true }))
  expect(every.map(({ project_id: id }) => id)).toEqual(
    expect.arrayContaining([one.projectId, two.projectId]),
  )
})
