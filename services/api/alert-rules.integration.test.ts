import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

jest.setTimeout(300_000)

let api: RunningApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const body = {
  ...{ name: 'Bot fails', metric: 'failed_share', filter: { agent_name: 'bot' } },
  ...{ window_minutes: 15, warning_threshold: 0.1, alert_threshold: 0.2 },
}

test('a rule is made, listed with its state, changed and deleted, and audited', async () => {
  const { projectId, key } = await api.createProject()
  const made = await api.call('POST', '/api/alert-rules', { key, body })
  expect(made.status).toBe(201)
  const defaults = {
    enabled: true,
    direction: 'above',
    for_minutes: 0,
    cooldown_minutes: 60,
    compare: 'none',
  }
  expect(made.json).toMatchObject({ ...body, ...defaults, project_id: projectId, is_built_in: false })
  const id = String(made.json['id'])
  await api.pool.query(
    `update alert_states set status = 'alert', value = 0.5, told_level = 'alert', told_since = now(), warning_since = now(),
       evaluated_until = now(), due_at = now() + interval '1 minute' where rule_id = $1`,
    [idToUuid(id)],
  )
  const listed = await api.call('GET', '/api/alert-rules', { key })
  expect(listed.json['items']).toMatchObject([
    { id, state: { status: 'alert', value: 0.5, compared_with: null, fires_since: expect.any(String) } },
  ])
  const changed = await api.call('PATCH', `/api/alert-rules/${id}`, { key, body: { alert_threshold: 0.6 } })
  expect(changed.json).toMatchObject({ ...body, alert_threshold: 0.6, state: { status: 'alert' } })
  const { rows } = await api.pool.query(
    'select warning_since, told_level, due_at <= now() as due from alert_states where rule_id = $1',
    [idToUuid(id)],
  )
  expect(rows).toEqual([{ warning_since: null, told_level: 'alert', due: true }])
  await api.pool.query(`update alert_states set due_at = now() - interval '6 minutes' where rule_id = $1`, [
    idToUuid(id),
  ])
  const late = await api.call('GET', `/api/alert-rules/${id}`, { key })
  expect(late.json).toMatchObject({ state: { status: 'late', value: 0.5 } })
  expect((await api.call('DELETE', `/api/alert-rules/${id}`, { key })).status).toBe(204)
  expect((await api.call('DELETE', `/api/alert-rules/${id}`, { key })).status).toBe(404)
  const audit = await api.pool.query<{ action: string }>(
    `select action from audit_log where subject = $1 order by at, id`,
    [id],
  )
  expect(audit.rows.map(({ action }) => action)).toEqual([
    'alert_rule.created',
    'alert_rule.changed',
    'alert_rule.deleted',
  ])
})

test.each<[fault: string, changes: object, path: string]>([
  ['a window that is too short', { window_minutes: 4 }, 'window_minutes'],
  ['a window that is too long', { window_minutes: 1_441 }, 'window_minutes'],
  ['a warning worse than the alert', { warning_threshold: 0.3 }, 'warning_threshold'],
  ['a warning worse than the alert, below', { direction: 'below' }, 'warning_threshold'],
  ['a filter that the metric has not', { filter: { severity: 'high' } }, 'filter.severity'],
  ['an unknown filter', { filter: { tool: 'x' } }, 'filter.tool'],
  ['a metadata key that is not declared', { filter: { 'metadata.team': 'x' } }, 'filter.metadata.team'],
  ['no metadata key', { filter: { metadata: 'x' } }, 'filter.metadata'],
  [
    'a week before of what has no past',
    { metric: 'spool_wait_s', filter: {}, compare: 'last_week' },
    'compare',
  ],
  [
    'a scorer with an agent',
    { metric: 'unsafe_count', filter: { scorer_name: 'x', model: 'y' } },
    'filter.model',
  ],
  ['an unknown field', { threshold: 1 }, 'threshold'],
])('%s is refused', async (_fault, changes, path) => {
  const { key } = await api.createProject()
  for (const url of ['/api/alert-rules', '/api/alert-rules/preview']) {
    const { name, ...rule } = body
    const named = url.endsWith('preview') ? {} : { name }
    const answer = await api.call('POST', url, { key, body: { ...named, ...rule, ...changes } })
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ path }] } })
  }
})

test('rules filter by the keys that the operator declares, which then have to stay', async () => {
  const { projectId, key } = await api.createProject({ metadata_keys: ['team', 'env'] })
  const operator = (metadata_keys: string[]) =>
    api.call('PATCH', `/api/projects/${projectId}`, { operator: true, body: { metadata_keys } })
  const declared = await api.call('GET', '/api/metadata-keys', { key })
  const [env, team] = declared.json['keys'] as { name: string; counted_from: string }[]
  expect([env?.name, team?.name]).toEqual(['env', 'team'])
  // A whole minute that every sink still has before it.
  expect(Date.parse(team?.counted_from ?? '') % 60_000).toBe(0)
  expect(Date.parse(team?.counted_from ?? '') - Date.now()).toBeGreaterThan(30_000)
  const filter = { 'metadata.team': 'payments', tool_name: 'search' }
  const made = await api.call('POST', '/api/alert-rules', { key, body: { ...body, filter } })
  expect(made).toMatchObject({ status: 201, json: { filter } })
  expect(await operator(['env', 'tier'])).toMatchObject({
    status: 422,
    json: { errors: [{ path: 'metadata_keys' }] },
  })
  expect(await operator(['team', 'tier'])).toMatchObject({
    status: 200,
    json: { metadata_keys: ['team', 'tier'] },
  })
  const after = await api.call('GET', '/api/metadata-keys', { key })
  expect((after.json['keys'] as object[])[0]).toEqual(team)
  for (const wrong of [['a', 'b', 'c', 'd'], ['a', 'a'], ['a=b']])
    expect(await operator(wrong)).toMatchObject({ status: 422 })
  const { rows } = await api.pool.query<{ detail: object }>(
    `select detail from audit_log where subject = $1 and action = 'project.changed' order by at, id`,
    [projectId],
  )
  expect(rows.map(({ detail }) => detail)).toEqual([
    { metadata_keys: ['team', 'tier'], before: { metadata_keys: ['env', 'team'] } },
  ])
  const other = await api.createProject()
  expect((await api.call('GET', '/api/metadata-keys', { key: other.key })).json['keys']).toEqual([])
  const foreign = await api.call('GET', `/api/metadata-keys?project_id=${projectId}`, { key: other.key })
  expect(foreign.status).toBe(403)
})

test('what has no past cannot be tried on it; a built-in rule keeps its metric', async () => {
  const { key } = await api.createProject()
  const preview = { metric: 'judge_budget_share', window_minutes: 5, alert_threshold: 0.5 }
  const tried = await api.call('POST', '/api/alert-rules/preview', { key, body: preview })
  expect(tried.json).toMatchObject({ hours: 720, hours_without_data: 720, fired: 0 })
  const { json } = await api.call('POST', '/api/alert-rules', { key, body })
  const id = String(json['id'])
  await api.pool.query('update alert_rules set is_built_in = true where id = $1', [idToUuid(id)])
  const change = (changes: object) => api.call('PATCH', `/api/alert-rules/${id}`, { key, body: changes })
  expect(await change({ metric: 'calls' })).toMatchObject({
    status: 422,
    json: { errors: [{ path: 'metric' }] },
  })
  expect(await change({ window_minutes: 30 })).toMatchObject({ status: 200 })
})

test('a change is checked together with what stays', async () => {
  const { key } = await api.createProject()
  const { json } = await api.call('POST', '/api/alert-rules', { key, body })
  const change = (changes: object) =>
    api.call('PATCH', `/api/alert-rules/${String(json['id'])}`, { key, body: changes })
  expect(await change({ alert_threshold: 0.1 })).toMatchObject({ status: 422 })
  expect(await change({ metric: 'delivery_failures' })).toMatchObject({ status: 422 })
  expect(await change({ metric: 'delivery_failures', filter: {}, warning_threshold: null })).toMatchObject({
    status: 200,
    json: { filter: {}, warning_threshold: null, window_minutes: 15 },
  })
})

test('a project has fifty rules; built-in ones are not counted and stay; viewers read', async () => {
  const { projectId, key } = await api.createProject()
  const create = () => api.call('POST', '/api/alert-rules', { key, body })
  const first = String((await create()).json['id'])
  await api.pool.query('update alert_rules set is_built_in = true where id = $1', [idToUuid(first)])
  for (let made = 0; made < 50; made++) expect((await create()).status).toBe(201)
  expect(await create()).toMatchObject({ status: 422, json: { errors: [{ path: 'project_id' }] } })
  expect((await api.call('DELETE', `/api/alert-rules/${first}`, { key })).status).toBe(422)
  const viewer = await signInPerson(api, 'viewer', [projectId])
  expect((await viewer.call('GET', `/api/alert-rules/${first}`)).status).toBe(200)
  expect((await viewer.call('POST', '/api/alert-rules', { body })).status).toBe(403)
  const other = await api.createProject()
  expect((await api.call('GET', `/api/alert-rules/${first}`, { key: other.key })).status).toBe(404)
  const stolen = { key: other.key, body: { enabled: false } }
  expect((await api.call('PATCH', `/api/alert-rules/${first}`, stolen)).status).toBe(404)
  expect((await api.call('DELETE', `/api/alert-rules/${first}`, { key: other.key })).status).toBe(404)
  expect((await api.call('GET', '/api/alert-rules', { key: other.key })).json['items']).toEqual([])
})
