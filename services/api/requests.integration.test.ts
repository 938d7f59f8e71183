import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

const key32 = Buffer.alloc(32, 7)
const sealer = createSealer([{ id: 'k1', key: key32 }])
const now = Date.now()
let api: RunningApi
let project: { projectId: string; key: string }
/** Oldest first, a minute apart. */
const ids = Array.from({ length: 5 }, (_, index) => newId('request', now - (5 - index) * 60_000 - 60_000))

beforeAll(async () => {
  api = await startApi({ BODY_ENCRYPTION_KEYS: `k1:${key32.toString('base64')}` })
  project = await api.createProject()
  const { projectId } = project
  for (const [index, id] of ids.entries()) {
    await seedRequest(api.pool, sealer, {
      projectId,
      id,
      model: index % 2 === 0 ? 'gpt-4o-mini' : 'claude-sonnet-4',
      agentName: `agent-${index}`,
      metadata: { team: index < 2 ? 'a' : 'b', n: index },
      requestBody: `{"n":9007199254740993123,"i":${index}}`,
      responseBody: '{"text":"\\u0041\\ud800"}',
      scores: [
        { scorer: 'pii_detection', value: 1, label: 'safe' },
        index === 4
          ? { scorer: 'jailbreak_detection', value: 5, label: 'unsafe', severity: 'critical' }
          : { scorer: 'jailbreak_detection', value: null, label: 'unscored' },
      ],
    })
  }
  await api.pool.query(
    `update llm_requests set status_code = (array[503, 429, null, 302, 200])[place], error = case place when 3 then 'cut off' end
     from unnest($1::uuid[]) with ordinality as of (request, place) where id = request`,
    [ids.map(idToUuid)],
  )
})

afterAll(() => api.stop())

const get = (path: string, key = project.key) => api.call('GET', path, { key })
const idsOf = (json: Record<string, unknown>, list = 'items') =>
  (json[list] as { id: string }[]).map(({ id }) => id)
const newestFirst = [...ids].reverse()

describe('GET /api/requests', () => {
  test('lists newest first, by page and by cursor, without bodies', async () => {
    const first = await get('/api/requests?page_size=2')
    expect(idsOf(first.json)).toEqual(newestFirst.slice(0, 2))
    expect(first.json).toMatchObject({ total: 5, page: 1, page_size: 2 })
    expect(first.text).not.toContain('request_body')
    expect((first.json['items'] as unknown[])[0]).toMatchObject({
      project_id: project.projectId,
      model: 'gpt-4o-mini',
      agent_name: 'agent-4',
      worst_label: 'unsafe',
      worst_severity: 'critical',
      score_count: 2,
      metadata: { team: 'b', n: 4 },
    })
    expect(idsOf((await get('/api/requests?page_size=2&page=2')).json)).toEqual(newestFirst.slice(2, 4))
    const second = await get(`/api/requests?page_size=2&cursor=${String(first.json['next_cursor'])}`)
    expect(idsOf(second.json)).toEqual(newestFirst.slice(2, 4))
    const third = await get(`/api/requests?page_size=2&cursor=${String(second.json['next_cursor'])}`)
    expect([idsOf(third.json), third.json['next_cursor']]).toEqual([newestFirst.slice(4), null])
  })

  test('has the list under data when limit is given', async () => {
    const { json } = await get('/api/requests?limit=3')
    expect(idsOf(json, 'data')).toEqual(newestFirst.slice(0, 3))
    expect(json).toMatchObject({ total: 5, limit: 3, has_more: true })
    expect(json['items']).toBeUndefined()
  })

  test.each([
    ['model=claude-sonnet-4', [3, 1]],
    ['agent_name=agent-2', [2]],
    ['metadata.team=a', [1, 0]],
    ['metadata.n=2', [2]],
    ['metadata.team=b&metadata.n=4', [4]],
    [String.raw`metadata.n={"a":"\u0000","a":1}`, []],
    ['metadata.n=1e200000', []],
    ['metadata.team=a&label=safe', [1, 0]],
    ['metadata.team=b&label=unsafe', [4]],
    ['metadata.n=3&scorer_name=jailbreak_detection&label=unscored', [3]],
    ['model=gpt-4o-mini&severity=critical', [4]],
    ['model=claude-sonnet-4&scorer_name=pii_detection', [3, 1]],
    ['label=unsafe', [4]],
    ['severity=critical', [4]],
    ['severity=high', []],
    ['scorer_name=pii_detection&label=safe', [4, 3, 2, 1, 0]],
    ['scorer_name=jailbreak_detection&label=unscored', [3, 2, 1, 0]],
    [`start=${new Date(now - 180_000).toISOString()}`, [4, 3]],
    [`end=${new Date(now - 300_000).toISOString()}`, [0]],
    ['model=none', []],
    ['status=failed', [2, 1, 0]],
    ['status=4xx', [1]],
    ['status=5xx', [0]],
    ['status=failed&label=safe', [2, 1, 0]],
    ['status=failed&scorer_name=jailbreak_detection&label=unscored', [2, 1, 0]],
    ['status=failed&metadata.team=a', [1, 0]],
  ])('filters by %s', async (query, expected) => {
    const { json, status } = await get(`/api/requests?${query}`)
    expect(status).toBe(200)
    expect(idsOf(json)).toEqual(expected.map((index) => ids[index]))
    expect(json['total']).toBe(expected.length)
  })

  test.each([
    ['page_size=0', 'page_size'],
    ['page_size=201', 'page_size'],
    ['page=x', 'page'],
    ['page=9999&page_size=200', 'page'],
    ['limit=10&page=2', 'page'],
    ['cursor=nonsense', 'cursor'],
    ['label=bad', 'label'],
    ['status=2xx', 'status'],
    ['start=yesterday', 'start'],
    ['modle=x', 'modle'],
    ['format=csv', 'format'],
    ['source=redteam&include_redteam=false', 'include_redteam'],
    ['model=a&model=b', 'model'],
    ['model=%00', 'model'],
    ['project_id=prj_x', 'project_id'],
    ['metadata.=x', 'metadata.'],
    [Array.from({ length: 11 }, (_, key) => `metadata.k${key}=x`).join('&'), 'metadata.k10'],
  ])('refuses %s and names it', async (query, path) => {
    const { json, status } = await get(`/api/requests?${query}`)
    expect(status).toBe(422)
    expect((json['errors'] as { path: string }[]).map((error) => error.path)).toContain(path)
  })

  test('shows the operator all projects, or the one that is named', async () => {
    const all = await api.call('GET', '/api/requests?page_size=1&page=3', { operator: true })
    expect(idsOf(all.json)).toEqual(newestFirst.slice(2, 3))
    const none = await api.call('GET', `/api/requests?project_id=${newId('project')}`, { operator: true })
    expect(none.json['total']).toBe(0)
  })
})

describe('GET /api/requests/{id}', () => {
  test('has the bodies as they came, and the scores with their rationale', async () => {
    const { json, text, status } = await get(`/api/requests/${String(ids[4])}`)
    expect(status).toBe(200)
    expect(text).toContain('"request_body":{"n":9007199254740993123,"i":4}')
    expect(text).toContain('"response_body":{"text":"\\u0041\\ud800"}')
    expect(json).toMatchObject({ id: ids[4], bodies_erased: false, worst_label: 'unsafe' })
    expect(json['safety_scores']).toMatchObject([
      { scorer_name: 'jailbreak_detection', score_value: 5, score_label: 'unsafe', severity: 'critical' },
      {
        scorer_name: 'pii_detection',
        score_value: 1,
        rationale: 'because of pii_detection',
        method: 'detector',
      },
    ])
  })

  test('says when the bodies were erased', async () => {
    const id = await seedRequest(api.pool, sealer, { projectId: (await api.createProject()).projectId })
    await api.pool.query('delete from llm_request_bodies where request_id = $1', [idToUuid(id)])
    const { json } = await api.call('GET', `/api/requests/${id}`, { operator: true })
    expect(json).toMatchObject({
      request_body: null,
      response_body: null,
      bodies_erased: true,
      safety_scores: [],
    })
  })

  test('has the calls before and after it in its session, and what the judge cost without what it said', async () => {
    const { projectId, key } = await api.createProject()
    const judge = {
      model: 'm',
      rubric: 'pii_detection@2',
      cost_usd: 0.01,
      ...{ asked_together: 3, failed: 'judge_unavailable', raw_answer: 'secret' },
    }
    const seed = (minute: number, sessionId = 's') =>
      seedRequest(api.pool, sealer, {
        projectId,
        sessionId,
        id: newId('request', now - 3_600_000 + minute * 60_000),
        scores: [{ scorer: 'pii_detection', value: 1, label: 'safe', judge }],
      })
    const [first, second, third] = [await seed(1), await seed(2), await seed(4)]
    await seed(3, 'another')
    const shown = async (id: string) => (await api.call('GET', `/api/requests/${id}`, { key })).json
    expect(await shown(first)).toMatchObject({ previous_in_session: null, next_in_session: second })
    expect(await shown(second)).toMatchObject({ previous_in_session: first, next_in_session: third })
    const last = await shown(third)
    expect(last).toMatchObject({ previous_in_session: second, next_in_session: null })
    const { raw_answer, ...told } = judge
    expect(last['safety_scores']).toMatchObject([{ judge: told }])
    expect(JSON.stringify(last)).not.toContain(raw_answer)
  })

  test('tells what is not stored yet from what does not exist', async () => {
    const young = await get(`/api/requests/${newId('request')}`)
    expect([young.status, young.json['code'], young.headers.get('retry-after')]).toEqual([
      404,
      'NOT_STORED_YET',
      '1',
    ])
    const old = await get(`/api/requests/${newId('request', now - 3_600_000)}`)
    expect([old.status, old.json['code']]).toEqual([404, 'NOT_FOUND'])
    expect((await get('/api/requests/nonsense')).status).toBe(422)
  })
})

describe('GET /api/safety-scores', () => {
  const count = async (query: string) => (await get(`/api/safety-scores?${query}`)).json['total']

  test('lists with rationale, filters, and pages', async () => {
    const { json } = await get('/api/safety-scores?min_score=5')
    expect(json['items']).toMatchObject([
      {
        request_id: ids[4],
        scorer_name: 'jailbreak_detection',
        rationale: 'because of jailbreak_detection',
        reason: null,
      },
    ])
    expect(await count(`request_id=${String(ids[0])}`)).toBe(2)
    expect(await count('scorer_name=pii_detection')).toBe(5)
    expect(await count('label=unscored')).toBe(4)
    expect(await count(`run_id=${newId('run')}`)).toBe(0)
    const page = await get('/api/safety-scores?page_size=3')
    const next = await get(`/api/safety-scores?page_size=100&cursor=${String(page.json['next_cursor'])}`)
    expect(new Set([...idsOf(page.json), ...idsOf(next.json)]).size).toBe(10)
  })

  test.each(['min_score=0', 'min_score=x', 'request_id=req_1', 'severity=low', 'unknown=1'])(
    'refuses %s',
    async (query) => {
      expect((await get(`/api/safety-scores?${query}`)).status).toBe(422)
    },
  )

  test('need a project from the operator', async () => {
    const { status, json } = await api.call('GET', '/api/safety-scores', { operator: true })
    expect([status, json['errors']]).toEqual([
      422,
      [{ path: 'project_id', message: 'is required when the operator asks' }],
    ])
  })
})

test('GET /api/billing/subscription rolls a period that is over', async () => {
  const free = await api.createProject({ tier: 'free' })
  await api.pool.query(
    `update subscriptions set requests_this_period = 7, period_start = '2026-01-01Z', period_reset_at = '2026-02-01Z',
       period_anchor = '2026-01-01Z' where tier = 'free'`,
  )
  const { json } = await get('/api/billing/subscription', free.key)
  expect(json).toMatchObject({
    project_id: free.projectId,
    tier: 'free',
    limit: 10_000,
    requests_this_period: 0,
    status: 'active',
  })
  expect(Date.parse(String(json['period_reset_at']))).toBeGreaterThan(now)
})
