import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { createErasingFixture } from '#services/sink/testing/erasing-fixture.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type Answer, type RunningApi } from '#tests/support/start-api.ts'
import { storeFailingCall } from '#tests/support/store-failing-call.ts'

type Project = Awaited<ReturnType<RunningApi['createProject']>>
type Json = Record<string, unknown>
let api: RunningApi

beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const fail = (projectId: string, agent: string, score: Partial<Score> = {}) =>
  storeFailingCall(api.pool, projectId, agent, score)
const itemsOf = (answer: Answer) => answer.json['items'] as Json[]
const list = (key: string, query = '') => api.call('GET', `/api/findings${query}`, { key })
const change = (key: string, id: string, body: object) =>
  api.call('PATCH', `/api/findings/${id}`, { key, body })

async function findingOf({ projectId, key }: Project, agent = 'a', score: Partial<Score> = {}) {
  const requestId = await fail(projectId, agent, score)
  const id = String(itemsOf(await list(key, `?agent_name=${agent}`))[0]?.['id'])
  return { id, requestId }
}

async function eventsOf(projectId: string): Promise<Json[]> {
  const { rows } = await api.pool.query<{ event: string; data: Buffer }>(
    `select event, data from event_outbox where project_id = $1 and event <> 'finding_opened' order by seq`,
    [idToUuid(projectId)],
  )
  return rows.map(({ event, data }) => ({ event, ...(JSON.parse(data.toString()) as Json) }))
}

test('a finding is listed with what its calls say, and shown with calls, values, comments and history', async () => {
  const project = await api.createProject()
  const { id, requestId } = await findingOf(project)
  const second = await fail(project.projectId, 'a', { severity: 'critical', score_value: 5 })
  const [item] = itemsOf(await list(project.key))
  expect(item).toMatchObject({
    ...{ id, project_id: project.projectId, scorer_name: 'pii_detection', evidence_kind: 'phone_number' },
    ...{ agent_name: 'a', tool_name: null, severity: 'critical', state: 'open', count: 2, owner: null },
    ...{ distinct_values: 1, distinct_values_is_exact: true, is_overdue: false },
    ...{ first_request_id: requestId, last_request_id: second, closed_at: null },
  })
  const comment = await api.call('POST', `/api/findings/${id}/comments`, {
    ...{ key: project.key, body: { text: 'our hotline', author: 'ana' } },
  })
  expect([comment.status, comment.json['text'], comment.json['author']]).toEqual([201, 'our hotline', 'ana'])
  await change(project.key, id, { state: 'acknowledged', author: 'ana' })
  const { json } = await api.call('GET', `/api/findings/${id}`, { key: project.key })
  expect(json).toMatchObject({
    ...{ sessions: 1, users: 1, sessions_are_exact: true },
    calls: [{ request_id: second }, { request_id: requestId }],
    values: [{ first_request_id: requestId, last_request_id: second }],
    comments: [{ author: 'ana', author_kind: 'key', text: 'our hotline' }],
    history: [
      { actor_kind: 'key', actor_name: 'ana', before: { state: 'open' }, after: { state: 'acknowledged' } },
    ],
  })
})

test('filters, facets and pages', async () => {
  const project = await api.createProject()
  const agents = ['a', 'b', 'c', 'd']
  for (const agent of agents) await findingOf(project, agent)
  await fail(project.projectId, 'e', {
    severity: 'critical',
    score_value: 5,
    scorer_name: 'jailbreak_detection',
  })
  const totalOf = async (query: string) => (await list(project.key, query)).json['total']
  await api.pool.query(`update findings set opened_at = now() - interval '25 hours' where agent_name = 'a'`)
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const counted = ['', '?severity=critical', '?scorer_name=pii_detection', '?state=muted', '?overdue=true']
  expect(await Promise.all(counted.map(totalOf))).toEqual([5, 1, 4, 0, 1])
  expect(await totalOf(`?since=${soon}`)).toBe(0)
  expect(await totalOf('?since=2020-01-01&overdue=false&agent_name=b')).toBe(1)
  const facets = await api.call('GET', '/api/findings/facets?severity=high', { key: project.key })
  expect(facets.json).toMatchObject({
    ...{ findings: 4, overdue: 1, state: [{ value: 'open', count: 4 }] },
    ...{ agent_name: agents.map((value) => ({ value, count: 1 })), tool_name: [], owner: [] },
  })
  const seen: unknown[] = []
  let next = ''
  while (next !== 'null') {
    const page = await list(project.key, `?page_size=2${next}`)
    seen.push(...itemsOf(page).map((item) => item['agent_name']))
    const cursor = page.json['next_cursor']
    next = typeof cursor === 'string' ? `&cursor=${cursor}` : 'null'
  }
  expect([seen.at(-1), seen.toSorted()]).toEqual(['a', [...agents, 'e']])
  expect((await list(project.key, '?overdue=true')).json['items']).toMatchObject([{ is_overdue: true }])
})

test('a change of state raises its event with the person, once', async () => {
  const project = await api.createProject()
  const { id, requestId } = await findingOf(project)
  const analyst = await signInPerson(api, 'analyst', [project.projectId])
  const patch = (body: object) => analyst.call('PATCH', `/api/findings/${id}`, { body })
  expect((await patch({ state: 'acknowledged', owner: analyst.id })).json).toMatchObject({
    ...{ state: 'acknowledged', owner: { id: analyst.id, login: analyst.login }, suppression: null },
  })
  expect((await patch({ state: 'acknowledged' })).status).toBe(200)
  const resolved = await patch({ state: 'resolved' })
  expect(resolved.json).toMatchObject({ closed_by: analyst.login, due_at: null })
  const changed = { finding_id: id, changed_by: analyst.login, count: 1, request_id: requestId }
  expect(await eventsOf(project.projectId)).toMatchObject([
    { event: 'finding_acknowledged', state: 'acknowledged', previous_state: 'open', ...changed },
    { event: 'finding_resolved', state: 'resolved', previous_state: 'acknowledged', ...changed },
  ])
  await fail(project.projectId, 'a')
  expect((await list(project.key, `?owner=${analyst.id}`)).json).toMatchObject({
    items: [{ state: 'open', count: 2, closed_at: null, owner: { login: analyst.login } }],
  })
  expect((await eventsOf(project.projectId)).at(-1)).toMatchObject({ event: 'finding_reopened' })
  const { json } = await api.call('GET', `/api/audit?person_id=${analyst.id}`, { operator: true })
  const entries = (json['items'] as Json[]).filter(({ subject }) => subject === id)
  expect(entries.map(({ action }) => action)).toEqual(['finding.changed', 'finding.changed'])
})

test('a false alarm offers the suppression of its kind, and says what it would have covered', async () => {
  const project = await api.createProject()
  const { id, requestId } = await findingOf(project)
  const { json } = await change(project.key, id, { state: 'false_alarm' })
  const rule = { scorer_name: 'pii_detection', kind: 'phone_number', agent_name: 'a', max_severity: 'high' }
  expect(json['suppression']).toMatchObject({
    ...{ rule, needs_expires_at: false, covered: 1, examined: 1, sample_request_ids: [requestId] },
  })
  const body = { ...rule, reason: 'known' }
  expect((await api.call('POST', '/api/suppressions', { key: project.key, body })).status).toBe(201)
  await fail(project.projectId, 'a')
  expect(itemsOf(await list(project.key))).toMatchObject([{ state: 'false_alarm', count: 1 }])
})

test('bulk changes what it may and says what it skipped; undo restores it unless something came after', async () => {
  const project = await api.createProject()
  const ids = [] as string[]
  for (const agent of ['a', 'b', 'c']) ids.push((await findingOf(project, agent)).id)
  const [first = '', second = '', third = ''] = ids
  await change(project.key, third, { state: 'resolved' })
  const unknown = newId('finding')
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const bulk = await api.call('POST', '/api/findings/bulk', {
    ...{ key: project.key, body: { ids: [...ids, unknown, first], state: 'muted', muted_until: until } },
  })
  expect(bulk.json).toMatchObject({
    changed: [first, second],
    skipped: [
      { id: third, reason: 'state', state: 'resolved' },
      { id: unknown, reason: 'not_found', state: null },
    ],
  })
  await change(project.key, second, { state: 'acknowledged' })
  const undo = (changeId: unknown) =>
    api.call('POST', `/api/findings/changes/${String(changeId)}/undo`, { key: project.key, body: {} })
  const undone = await undo(bulk.json['change_id'])
  expect(undone.json).toMatchObject({ changed: [first], skipped: [{ id: second, reason: 'changed_since' }] })
  const states = async () =>
    itemsOf(await list(project.key))
      .toSorted((one, other) => (String(one['agent_name']) < String(other['agent_name']) ? -1 : 1))
      .map(({ state, muted_until }) => [state, muted_until])
  expect(await states()).toEqual([
    ['open', null],
    ['acknowledged', null],
    ['resolved', null],
  ])
  await undo(undone.json['change_id'])
  expect((await states())[0]).toEqual(['muted', until])
  expect((await undo(newId('findingChange'))).status).toBe(404)
})

test('erased calls are named neither by a finding nor by the event of a later change', async () => {
  const project = await api.createProject()
  const { id, requestId } = await findingOf(project)
  const { erase, erased } = createErasingFixture(api.pool)
  await erased(await erase(project.projectId, 'request', idToUuid(requestId)), '1')
  const { json } = await api.call('GET', `/api/findings/${id}`, { key: project.key })
  expect(json).toMatchObject({ count: 1, first_request_id: null, last_request_id: null, values: [] })
  await change(project.key, id, { state: 'resolved' })
  expect(await eventsOf(project.projectId)).toMatchObject([{ event: 'finding_resolved', request_id: null }])
})

test.each<[string, object, string]>([
  ['nothing', {}, 'state'],
  ['a mute without an end', { state: 'muted' }, 'muted_until'],
  ['a mute in the past', { state: 'muted', muted_until: '2020-01-01' }, 'muted_until'],
  ['a mute for years', { state: 'muted', muted_until: '2100-01-01' }, 'muted_until'],
  ['an end without a mute', { state: 'resolved', muted_until: '2100-01-01' }, 'muted_until'],
  ['an unknown owner', { owner: newId('person') }, 'owner'],
  ['an unknown state', { state: 'closed' }, 'state'],
])('refused: %s', async (_name, body, path) => {
  const project = await api.createProject()
  const { id } = await findingOf(project)
  const { status, json } = await change(project.key, id, body)
  expect([status, (json['errors'] as { path: string }[]).map((each) => each.path)]).toEqual([422, [path]])
})

test('a closed finding is opened before other work; owners must see the project', async () => {
  const [project, other] = [await api.createProject(), await api.createProject()]
  const { id } = await findingOf(project)
  await change(project.key, id, { state: 'resolved' })
  const refused = await change(project.key, id, { state: 'acknowledged' })
  expect([refused.status, JSON.stringify(refused.json)]).toEqual([
    422,
    expect.stringContaining('open it first'),
  ])
  expect((await change(project.key, id, { state: 'open' })).json).toMatchObject({ state: 'open' })
  const stranger = await signInPerson(api, 'analyst', [other.projectId])
  expect((await change(project.key, id, { owner: stranger.id })).status).toBe(422)
})

test('viewers read without comments and change nothing; the operator sees all projects', async () => {
  const [project, other] = [await api.createProject(), await api.createProject()]
  const { id } = await findingOf(project)
  const { id: otherId } = await findingOf(other)
  await api.call('POST', `/api/findings/${id}/comments`, { key: project.key, body: { text: 'secret' } })
  const viewer = await signInPerson(api, 'viewer', [project.projectId])
  const shown = await viewer.call('GET', `/api/findings/${id}`)
  expect(shown.json['comments']).toMatchObject([{ text: null }])
  const refused = await Promise.all([
    viewer.call('PATCH', `/api/findings/${id}`, { body: { state: 'resolved' } }),
    viewer.call('POST', `/api/findings/${id}/comments`, { body: { text: 'x' } }),
    viewer.call('POST', '/api/findings/bulk', { body: { ids: [id], state: 'resolved' } }),
    viewer.call('POST', `/api/findings/changes/${newId('findingChange')}/undo`, { body: {} }),
  ])
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  const all = await api.call('GET', '/api/findings?page_size=200', { operator: true })
  expect(itemsOf(all).map((item) => item['id'])).toEqual(expect.arrayContaining([id, otherId]))
  expect((await api.call('GET', `/api/findings/${otherId}`, { operator: true })).json).toMatchObject({
    count: 1,
  })
  const facets = await api.call('GET', '/api/findings/facets', { operator: true })
  expect(Number(facets.json['findings'])).toBeGreaterThan(1)
})

test("a project's key reads and changes nothing of another's findings, by any route", async () => {
  const [mine, theirs] = [await api.createProject(), await api.createProject()]
  const { id } = await findingOf(theirs)
  const acknowledged = await change(theirs.key, id, { state: 'acknowledged' })
  const changeId = String(acknowledged.json['change_id'])
  const { key } = mine
  const body = { state: 'resolved' }
  const answers = await Promise.all([
    api.call('GET', `/api/findings/${id}`, { key }),
    change(key, id, body),
    api.call('POST', `/api/findings/${id}/comments`, { key, body: { text: 'x' } }),
    api.call('POST', `/api/findings/changes/${changeId}/undo`, { key, body: {} }),
    api.call('GET', `/api/findings?project_id=${theirs.projectId}`, { key }),
    api.call('GET', `/api/findings/facets?project_id=${theirs.projectId}`, { key }),
    api.call('PATCH', `/api/findings/${id}?project_id=${theirs.projectId}`, { key, body }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 403, 403, 403])
  const bulk = await api.call('POST', '/api/findings/bulk', { key, body: { ids: [id], ...body } })
  expect(bulk.json).toMatchObject({ changed: [], skipped: [{ id, reason: 'not_found', state: null }] })
  expect((await list(key)).json['total']).toBe(0)
  expect((await api.call('GET', '/api/findings/facets', { key })).json).toMatchObject({ findings: 0 })
  expect((await api.call('GET', `/api/findings/${id}`, { key: theirs.key })).json).toMatchObject({
    ...{ state: 'acknowledged', comments: [] },
  })
})
