import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid } from '#schemas/ids.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { until } from '#tests/support/until.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

let api: RunningApi

beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const entries = async (query: string) =>
  (await api.call('GET', `/api/audit?${query}`, { operator: true })).json['items'] as Record<
    string,
    unknown
  >[]

test('the audit log says who had an agent attacked, took calls with them, and signed out', async () => {
  const { projectId } = await api.createProject()
  const person = await signInPerson(api, 'admin', [])
  const target = { kind: 'chat', url: 'http://127.0.0.1:9/v1' }
  const order = { project_id: projectId, agent_name: 'bot', target, budget_usd: 2 }
  const { json } = await person.call('POST', '/api/redteam-runs', { body: order })
  const runId = String(json['id'])
  for (let time = 0; time < 2; time++) await person.call('POST', `/api/redteam-runs/${runId}/cancel`)
  await person.call('GET', `/api/requests/export?project_id=${projectId}`)
  await person.call('POST', '/api/me/sign-out')
  expect(
    (await entries(`person_id=${person.id}`)).map((entry) => [entry['action'], entry['subject']]),
  ).toEqual([
    ['person.signed_out', person.id],
    ['requests.exported', projectId],
    ['redteam_run.cancel', runId],
    ['redteam_run.ordered', runId],
    ['person.signed_in', person.id],
  ])
  const [ordered] = await entries('action=redteam_run.ordered')
  expect(ordered).toMatchObject({
    project_id: projectId,
    detail: { agent_name: 'bot', target: 'chat', url: target.url, budget_usd: 2, runner: 'worker' },
  })
})

test('an export that is refused took nothing with it, and is not in the log', async () => {
  const { projectId } = await api.createProject()
  const person = await signInPerson(api, 'analyst', [projectId])
  const exports = () => entries(`person_id=${person.id}&action=requests.exported`)
  await api.pool.query('alter table llm_requests rename to away')
  expect((await person.call('GET', '/api/requests/export')).status).toBe(500)
  await api.pool.query('alter table away rename to llm_requests')
  expect(await exports()).toEqual([])
  expect((await person.call('GET', '/api/requests/export')).status).toBe(200)
  expect(await exports()).toHaveLength(1)
})

test('sign-ins that were refused are in the log once in a while, with the person and the place, and without the names that nobody has', async () => {
  const person = await signInPerson(api, 'viewer', [])
  const address = '203.0.113.9'
  const refused = () => entries('action=person.sign_in_refused')
  for (const login of [person.login, 'typed-in-the-wrong-field', person.login.toUpperCase()]) {
    const body = { login, password: 'not this one', address }
    const { status } = await api.call('POST', '/internal/people/sign-in', { operator: true, body })
    expect(status).toBe(401)
  }
  await until(async () => (await refused()).length > 0)
  const about = { actor_id: person.id, actor_name: person.login, subject: person.id, address }
  expect(await refused()).toEqual([expect.objectContaining({ ...about, detail: { how: 'password' } })])
})

test('so are those whom the provider vouches for: who is disabled, and who has the login of somebody else', async () => {
  const [disabled, taken] = [await signInPerson(api, 'viewer', []), await signInPerson(api, 'viewer', [])]
  const issuer = 'https://id.example.com'
  const link = `update people set oidc_issuer = $1, oidc_subject = 'known', disabled_at = now() where id = $2`
  await api.pool.query(link, [issuer, idToUuid(disabled.id)])
  const claims = { issuer, login_is_verified: true, name: 'N', role: 'viewer' }
  for (const [subject, login, status] of [
    ['known', disabled.login, 403],
    ['stranger', taken.login, 409],
  ] as const) {
    const body = { ...claims, subject, login, address: '203.0.113.9' }
    const answer = await api.call('POST', '/internal/people/sign-in-by-provider', { operator: true, body })
    expect(answer.status).toBe(status)
  }
  for (const { id } of [disabled, taken]) {
    const refused = () => entries(`action=person.sign_in_refused&person_id=${id}`)
    await until(async () => (await refused()).length > 0)
    expect(await refused()).toEqual([
      expect.objectContaining({ subject: id, address: '203.0.113.9', detail: { how: 'provider' } }),
    ])
  }
})

test('reading lines of calls is in the log once in a while; a viewer gets none', async () => {
  const { projectId } = await api.createProject()
  await seedRequest(api.pool, createSealer([]), { projectId, requestBody: '{"prompt":"SAID"}' })
  for (const [role, count] of [
    ['analyst', 1],
    ['viewer', 0],
  ] as const) {
    const person = await signInPerson(api, role, [projectId])
    for (let time = 0; time < 2; time++) {
      const { text } = await person.call('GET', '/api/requests')
      expect(text.includes('SAID')).toBe(count === 1)
    }
    const read = await entries(`person_id=${person.id}&action=requests.previews_viewed`)
    expect(read.map(({ subject }) => subject)).toEqual(Array(count).fill(projectId))
  }
})

test("saved views are a person's own, replaced by name, and not without end", async () => {
  const [one, other] = [await signInPerson(api, 'viewer', []), await signInPerson(api, 'viewer', [])]
  const save = (name: string, query: string) => one.call('POST', '/api/me/views', { body: { name, query } })
  const { json } = await save('Mine', '?label=unsafe')
  expect((await save('Mine', '?label=safe')).json['id']).toBe(json['id'])
  const views = async (person: typeof one) => (await person.call('GET', '/api/me/views')).json['items']
  expect(await views(one)).toMatchObject([{ id: json['id'], name: 'Mine', query: '?label=safe' }])
  expect(await views(other)).toEqual([])
  const path = `/api/me/views/${String(json['id'])}`
  expect((await other.call('DELETE', path)).status).toBe(404)
  for (let count = 1; count < 50; count++) await save(`view ${count}`, '')
  expect((await save('one more', '')).json['code']).toBe('VIEWS_TOO_MANY')
  expect((await save('Mine', '')).status).toBe(201)
  expect((await one.call('DELETE', path)).status).toBe(204)
  expect((await save('one more', '')).status).toBe(201)
})
