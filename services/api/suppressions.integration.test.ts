import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, newId, scoreId, liveRunId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type Answer, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { parseBody, readCall, type Evidence } from '#detectors/call-text.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createSealer } from '#runtime/sealing.ts'
import { createScorerMetrics } from '#services/scorer/scorer-metrics.ts'
import { createValueFinder } from '#services/scorer/steps/find-values.ts'
import { createValueKeys } from '#services/scorer/stores/value-keys.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'

let api: RunningApi
const phone = '+49 30 1234567'
const hourMs = 3_600_000
const soon = () => new Date(Date.now() + hourMs).toISOString()

beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const inDays = (days: number) => new Date(Date.now() + days * 24 * hourMs).toISOString()

/** What the scorer carries of a call that says these phone numbers, by the real key of the project. */
async function foundIn(projectId: string, numbers: readonly string[]) {
  const sealer = createSealer([])
  const log = createLog('test', 'silent')
  const metrics = createScorerMetrics(createMetrics())
  const clock = { now: () => Date.now(), sleep: () => Promise.resolve() }
  const keys = createValueKeys({ pool: api.pool, sealer, clock, log, metrics })
  const content = numbers.join(' ')
  const call = readCall(parseBody(JSON.stringify({ messages: [{ role: 'user', content }] })), null)
  const evidence: Evidence[] = numbers.map((number) => ({
    ...{ part: 'request_body', pointer: '/messages/0/content', kind: 'phone_number' },
    ...{ start: content.indexOf(number), end: content.indexOf(number) + number.length },
  }))
  return createValueFinder(
    call,
    null,
    await keys.of(projectId),
  )({
    ...{ scorer: 'pii_detection', version: '1', owaspCategory: null },
    verdict: {
      ...{ value: 4, label: 'unsafe', severity: 'high', method: 'detector', reason: null },
      ...{ rationale: '', contentFreeRationale: '', evidence },
    },
  })
}

/** Stores an unsafe call that said these numbers, as scorer and sink do. */
async function storeCall(
  projectId: string,
  numbers: readonly string[],
  changes: Partial<LoggedCall> = {},
): Promise<{ requestId: string; scoreId: string }> {
  const storage = createCallStorage(api.pool)
  const call = sampleCall(projectId, changes)
  const found = await foundIn(projectId, numbers)
  await storage.calls([call])
  const scores = [sampleScore(projectId, call.id, { score_value: 4, severity: 'high', ...found })]
  await storage.scores([sampleScoredCall(call, { scores })])
  return {
    requestId: call.id,
    scoreId: scoreId(projectId, call.id, 'pii_detection', liveRunId(projectId)),
  }
}

const rule = { scorer_name: 'pii_detection', reason: 'the hotline' }
const post = (path: string, key: string, body: object) =>
  api.call('POST', `/api/suppressions${path}`, { key, body })
const errorsOf = ({ status, json }: Answer) => [
  status,
  (json['errors'] as { path: string }[] | undefined)?.map(({ path }) => path),
]

test('a suppression of a text covers what the scorer hashes, marks the score, and is counted', async () => {
  const { projectId, key } = await api.createProject()
  await storeCall(projectId, [phone])
  const made = await post('', key, {
    ...rule,
    kind: 'phone_number',
    value: '(+49) 30-1234 567',
    author: 'ana',
  })
  expect(made.status).toBe(201)
  expect(made.json).toMatchObject({
    ...{ has_value: true, max_severity: 'high', author: 'ana', author_kind: 'key', is_active: true },
    ...{ covered: 0, last_covered_at: null, expires_at: null, revoked_at: null, reason: 'the hotline' },
  })
  expect(JSON.stringify(made.json)).not.toContain('1234')
  const { requestId } = await storeCall(projectId, ['+49301234567'])
  await storeCall(projectId, ['+49 30 7654321', phone])
  const id = String(made.json['id'])
  const detail = await api.call('GET', `/api/requests/${requestId}`, { key })
  expect(detail.json['safety_scores']).toMatchObject([
    { suppressed_by: id, found_values: [{ kind: 'phone_number', tool: null, has_hash: true }] },
  ])
  const countWith = async (query: string) =>
    (await api.call('GET', `/api/safety-scores?${query}`, { key })).json['total']
  expect([await countWith('suppressed=true'), await countWith('suppressed=false')]).toEqual([1, 2])
  const shown = await api.call('GET', `/api/suppressions/${id}`, { key })
  expect(shown.json).toMatchObject({ id, covered: 1 })
  const list = await api.call('GET', '/api/suppressions?active=true', { key })
  expect(list.json).toMatchObject({ total: 1, items: [{ id, covered: 1 }] })
})

test('a dry run compares the last 30 days by the same rule', async () => {
  const { projectId, key } = await api.createProject()
  const daysAgo = (days: number) => newId('request', Date.now() - days * 24 * hourMs)
  const first = await storeCall(projectId, [phone], { agent_name: 'sales' })
  const second = await storeCall(projectId, [phone], { id: daysAgo(3) })
  await storeCall(projectId, [phone, '+49 30 7654321'])
  await storeCall(projectId, [phone], { id: daysAgo(31) })
  const preview = async (body: object) => {
    const { status, json } = await post('/preview', key, { scorer_name: 'pii_detection', ...body })
    return [status, json['examined'], json['covered'], json['sample_request_ids']]
  }
  expect(await preview({ score_id: first.scoreId, value_index: 0 })).toEqual([
    ...[200, 3, 2],
    [first.requestId, second.requestId],
  ])
  expect((await preview({ kind: 'phone_number' }))[2]).toBe(3)
  expect(await preview({ value: phone, agent_name: 'sales' })).toEqual([200, 3, 1, [first.requestId]])
  expect((await preview({ max_severity: 'medium' })).slice(1)).toEqual([0, 0, []])
  expect((await api.call('GET', '/api/suppressions', { key })).json['total']).toBe(0)
})

test.each<[string, object, string]>([
  ['a critical one without an end', { max_severity: 'critical' }, 'expires_at'],
  ['a critical one that ends late', { max_severity: 'critical', expires_at: inDays(91) }, 'expires_at'],
  ['one that has ended', { expires_at: '2020-01-01' }, 'expires_at'],
  ['a place without a score', { value_index: 0 }, 'value_index'],
  ['a score without a place', { score_id: newId('score') }, 'value_index'],
  ['two values', { value: 'x', score_id: newId('score'), value_index: 0 }, 'score_id'],
  ['no reason', { reason: undefined }, 'reason'],
  ['an unknown field', { everything: true }, 'everything'],
])('refused: %s', async (_name, changes, path) => {
  const { key } = await api.createProject()
  expect(errorsOf(await post('', key, { ...rule, ...changes }))).toEqual([422, [path]])
})

test('refused: a place that the score does not have, another scorer, an unknown score', async () => {
  const { projectId, key } = await api.createProject()
  const { scoreId: score_id } = await storeCall(projectId, [phone])
  const refused = async (changes: object) => errorsOf(await post('', key, { ...rule, score_id, ...changes }))
  expect(await refused({ value_index: 1 })).toEqual([422, ['value_index']])
  expect(await refused({ value_index: 0, scorer_name: 'content_safety' })).toEqual([422, ['scorer_name']])
  expect((await refused({ value_index: 0, score_id: newId('score') }))[0]).toBe(404)
  await api.pool.query('update safety_score_details set found_values = null where project_id = $1', [
    idToUuid(projectId),
  ])
  expect(await refused({ value_index: 0 })).toEqual([422, ['value_index']])
})

test('a critical one with an end is made; a revoked one ends at once, forgets its value and stays in the list', async () => {
  const { key } = await api.createProject()
  const made = await post('', key, { ...rule, value: phone, max_severity: 'critical', expires_at: soon() })
  expect(made.status).toBe(201)
  const id = String(made.json['id'])
  const revoked = await post(`/${id}/revoke`, key, {})
  expect(revoked.json).toMatchObject({ is_active: false, has_value: true })
  expect((await post(`/${id}/revoke`, key, {})).json['revoked_at']).toBe(revoked.json['revoked_at'])
  const { rows } = await api.pool.query('select value_hash from suppressions where id = $1', [idToUuid(id)])
  expect(rows).toEqual([{ value_hash: null }])
  const totals = ['active=true', 'active=false', 'scorer_name=pii_detection', 'scorer_name=x'].map(
    async (query) => (await api.call('GET', `/api/suppressions?${query}`, { key })).json['total'],
  )
  expect(await Promise.all(totals)).toEqual([0, 1, 1, 0])
})

test('a project has 200 active ones at most; ended ones do not count', async () => {
  const { projectId, key } = await api.createProject()
  await api.pool.query(
    `insert into suppressions (id, project_id, scorer_name, has_value, max_severity, reason, author, author_kind, created_at, revoked_at)
     select gen_random_uuid(), $1, 's', false, 'high', 'r', 'a', 'key', now(), case when n > 199 then now() end from generate_series(1, 250) n`,
    [idToUuid(projectId)],
  )
  expect((await post('', key, rule)).status).toBe(201)
  const refused = await post('', key, rule)
  expect([refused.status, refused.json['code']]).toEqual([409, 'SUPPRESSIONS_TOO_MANY'])
})

test("a project's key touches no suppression, score or value of another", async () => {
  const [mine, theirs] = [await api.createProject(), await api.createProject()]
  const { scoreId: score_id } = await storeCall(theirs.projectId, [phone])
  const id = String((await post('', theirs.key, { ...rule, value: phone })).json['id'])
  const { key } = mine
  const statuses = await Promise.all([
    api.call('GET', `/api/suppressions/${id}`, { key }),
    post(`/${id}/revoke`, key, {}),
    post('', key, { ...rule, score_id, value_index: 0 }),
    post('/preview', key, { scorer_name: 'pii_detection', score_id, value_index: 0 }),
    api.call('POST', `/api/suppressions?project_id=${theirs.projectId}`, { key, body: rule }),
  ])
  expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 403])
  expect((await api.call('GET', '/api/suppressions', { key })).json['total']).toBe(0)
  const preview = await post('/preview', key, { scorer_name: 'pii_detection' })
  expect(preview.json).toMatchObject({ examined: 0, covered: 0 })
  // The same value has another hash in each project.
  await post('', key, { ...rule, value: phone })
  const { rows } = await api.pool.query(
    'select distinct value_hash from suppressions where project_id = any ($1::uuid[])',
    [[mine, theirs].map(({ projectId }) => idToUuid(projectId))],
  )
  expect(rows).toHaveLength(2)
  expect((await api.call('GET', `/api/suppressions/${id}`, { key: theirs.key })).json).toMatchObject({
    is_active: true,
  })
})

test('viewers see no reasons and may change nothing; what analysts do is in the audit log', async () => {
  const { projectId } = await api.createProject()
  const analyst = await signInPerson(api, 'analyst', [projectId])
  const viewer = await signInPerson(api, 'viewer', [projectId])
  const made = await analyst.call('POST', '/api/suppressions', { body: { ...rule, author: 'somebody' } })
  const id = String(made.json['id'])
  expect([made.status, made.json['author'], made.json['author_kind']]).toEqual([201, analyst.login, 'person'])
  expect((await viewer.call('GET', `/api/suppressions/${id}`)).json['reason']).toBeNull()
  expect((await viewer.call('POST', `/api/suppressions/${id}/revoke`)).status).toBe(403)
  expect((await viewer.call('POST', '/api/suppressions', { body: rule })).status).toBe(403)
  expect(
    (await viewer.call('POST', '/api/suppressions/preview', { body: { scorer_name: 'x' } })).status,
  ).toBe(403)
  expect((await analyst.call('POST', `/api/suppressions/${id}/revoke`)).status).toBe(200)
  const { json } = await api.call('GET', `/api/audit?person_id=${analyst.id}`, { operator: true })
  const actions = (json['items'] as { action: string; subject: string; detail: object | null }[]).filter(
    ({ subject }) => subject === id,
  )
  expect(actions.map(({ action }) => action)).toEqual(['suppression.revoked', 'suppression.created'])
  expect(JSON.stringify(actions)).not.toContain('hotline')
})
