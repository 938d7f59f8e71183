import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

const now = Date.now()
const day = 86_400_000
let api: RunningApi
/** The texts of all statements. */
const texts: string[] = []

beforeAll(async () => {
  api = await startApi()
  const { query } = pg.Client.prototype as { query: (...given: unknown[]) => unknown }
  jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const [first] = given as [string | { text?: string }]
    texts.push(typeof first === 'string' ? first : String(first.text))
    return query.apply(this, given)
  })
})

afterAll(async () => {
  jest.restoreAllMocks()
  await api.stop()
})

const idsOf = (answer: { json: Record<string, unknown> }) =>
  (answer.json['items'] as { id: string }[]).map(({ id }) => id)

test('a list by label goes through the calls of a model that has fewer than have the label, and pages by id where all are safe', async () => {
  const { projectId, key } = await api.createProject()
  const storage = createCallStorage(api.pool)
  const make = (index: number, model: string) =>
    sampleCall(projectId, { id: newId('request', now - (index + 1) * 60_000), model })
  const [common, rare] = [many(6, (index) => make(index, 'common')), make(6, 'seldom')]
  const isSafe = { score_value: 1, score_label: 'safe', severity: null } as const
  const scored = (call: LoggedCall, changes = {}) =>
    sampleScoredCall(call, { scores: [sampleScore(projectId, call.id, changes)] })
  await storage.calls([...common, rare])
  await storage.scores([scored(rare), ...common.map((call, index) => scored(call, index < 3 ? isSafe : {}))])
  const list = async (query: string) => {
    texts.length = 0
    const ids = idsOf(await api.call('GET', `/api/requests?${query}`, { key }))
    return {
      ids,
      byCalls: !texts.some((text) => /from (request_verdicts v|safety_scores s) cross join/.test(text)),
    }
  }
  const unsafe = common.slice(3).map(({ id }) => id)
  for (const filter of ['label=unsafe', 'severity=critical', 'label=unsafe&scorer_name=pii_detection']) {
    expect([filter, await list(`${filter}&model=common`)]).toEqual([filter, { ids: unsafe, byCalls: false }])
    expect([filter, await list(`${filter}&model=seldom`)]).toEqual([
      filter,
      { ids: [rare.id], byCalls: true },
    ])
  }
  const seen: string[] = []
  let cursor: unknown = null
  do {
    const page = `label=safe&page_size=1${typeof cursor === 'string' ? `&cursor=${cursor}` : ''}`
    const answer = await api.call('GET', `/api/requests?${page}`, { key })
    seen.push(...idsOf(answer))
    cursor = answer.json['next_cursor']
  } while (cursor !== null)
  expect(seen).toEqual(common.slice(0, 3).map(({ id }) => id))
  expect(texts.some((text) => text.includes('order by v.request_id desc'))).toBe(true)
})

test('calls are chosen by their tag, by having been broken off, and by having no score', async () => {
  const { projectId, key } = await api.createProject()
  const storage = createCallStorage(api.pool)
  const [tagged, broken, scored] = [
    { agent_tag: 'canary' },
    { aborted_by: 'client' },
    { agent_tag: 'canary' },
  ].map((changes, index) =>
    sampleCall(projectId, { id: newId('request', now - index * 60_000), ...changes }),
  ) as [LoggedCall, LoggedCall, LoggedCall]
  await storage.calls([tagged, broken, scored])
  await storage.scores([sampleScoredCall(scored)])
  const list = (query: string, caller: object = { key }) => api.call('GET', `/api/requests?${query}`, caller)
  for (const [query, expected] of [
    ['agent_tag=canary', [tagged, scored]],
    ['agent_tag=canary&label=unsafe', [scored]],
    ['agent_tag=canary&label=pending', [tagged]],
    ['status=aborted', [broken]],
    ['status=aborted&label=pending', [broken]],
    ['label=pending', [tagged, broken]],
  ] as const) {
    const answer = await list(query)
    const wanted = expected.map(({ id }) => id)
    expect([query, idsOf(answer), answer.json['total']]).toEqual([query, wanted, wanted.length])
  }
  for (const [query, caller, detail] of [
    ['label=pending&severity=high', { key }, /^severity: /],
    ['label=pending&scorer_name=pii_detection', { key }, /^scorer_name: /],
    ['label=pending', { operator: true }, /^project_id: is required/],
  ] as const) {
    const { status, json } = await list(query, caller)
    expect([status, json['detail']]).toEqual([422, expect.stringMatching(detail)])
  }
})

test('a list looks only where the roll-ups count some that pass, and nowhere where they count none', async () => {
  const { projectId, key } = await api.createProject()
  const project = idToUuid(projectId)
  const storage = createCallStorage(api.pool)
  const make = (ageMs: number, changes: Partial<LoggedCall>) =>
    sampleCall(projectId, { id: newId('request', now - ageMs), ...changes })
  const common = many(5, (index) => make((index + 0.01) * day, {}))
  const [newer, older] = [make(1_000, { source: 'mcp' }), make(3.5 * day, { source: 'mcp', model: 'seldom' })]
  await storage.calls([...common, newer, older])
  await storage.scores([sampleScoredCall(older)])
  const list = async (query: string, of = 'requests') => {
    texts.length = 0
    const ids = idsOf(await api.call('GET', `/api/${of}?${query}`, { key }))
    const reads = (table: string) =>
      texts.filter((text) => text.includes(`from ${table}`) && !text.includes('unsafe_scores'))
    const pages = [...reads('llm_requests r'), ...reads('safety_scores s'), ...reads('request_verdicts v')]
    return {
      ids,
      asked: texts.filter((text) => text.includes('_rollups')).length,
      everywhere: pages.filter((text) => !/ and \(\w\.\w*created_at >= /.test(text)).length,
      pages: pages.length > 0,
    }
  }
  const none = { ids: [], asked: 1, everywhere: 0, pages: false }
  for (const filter of [
    'source=sdk',
    'source=gateway&model=seldom',
    'model=seldom&provider=nobody',
    'source=redteam&label=unsafe',
    'source=mcp&label=safe',
    `label=pending&end=${new Date(now - 5 * day).toISOString()}`,
    'scorer_name=nobody',
    'scorer_name=pii_detection&label=unscored',
    `source=mcp&end=${new Date(now - 5 * day).toISOString()}`,
  ])
    expect([filter, await list(filter)]).toEqual([filter, none])
  expect(await list('scorer_name=nobody', 'safety-scores')).toEqual(none)
  expect(await list('scorer_name=pii_detection', 'safety-scores')).toMatchObject({
    asked: 1,
    everywhere: 0,
    pages: true,
  })
  const some = [
    ['source=mcp', [newer.id, older.id]],
    ['model=seldom&provider=openai', [older.id]],
    ['source=mcp&label=unsafe', [older.id]],
    ['source=mcp&label=pending', [newer.id]],
    [`label=pending&start=${new Date(now - 0.5 * day).toISOString()}`, [newer.id, common[0]?.id]],
    ['label=pending', [newer.id, ...common.map(({ id }) => id)]],
    ['scorer_name=pii_detection', [older.id]],
    ['scorer_name=pii_detection&label=unsafe&source=mcp', [older.id]],
    [`source=mcp&start=${new Date(now - 2 * day).toISOString()}`, [newer.id]],
  ] as const
  const found = async (asked: number) => {
    for (const [filter, ids] of some)
      expect([filter, await list(filter)]).toEqual([filter, { ids, asked, everywhere: 0, pages: true }])
  }
  await found(1)
  // Days with many calls are narrowed to hours.
  await api.pool.query(
    'update call_rollups set calls = calls + 50000 where project_id = $1 and source = $2',
    [project, 'gateway'],
  )
  expect(await list('source=mcp')).toEqual({
    ids: [newer.id, older.id],
    asked: 2,
    everywhere: 0,
    pages: true,
  })
  // The overflow group has no name and may contain any.
  await api.pool.query(
    `update call_rollups set is_other = true, model = null, provider = null, agent_name = null where project_id = $1`,
    [project],
  )
  await api.pool.query(
    'update score_rollups set is_other = true, scorer_name = null, scores = 0 where project_id = $1',
    [project],
  )
  for (const [filter, ids] of some) expect([filter, (await list(filter)).ids]).toEqual([filter, ids])
  expect((await list('scorer_name=pii_detection', 'safety-scores')).ids).toHaveLength(1)
})

test('a list says of no fewer calls than it shows that they are there, and exactly how many where it shows them all', async () => {
  const { projectId, key } = await api.createProject()
  const storage = createCallStorage(api.pool)
  const unsafe = many(3, (index) =>
    sampleCall(projectId, { id: newId('request', now - 3 * day - index), user_id: 'ada' }),
  )
  const safe = sampleCall(projectId, { id: newId('request', now - 1_000), user_id: 'ada' })
  await storage.calls([...unsafe, safe])
  await storage.scores(unsafe.map((call) => sampleScoredCall(call)))
  // More than are counted, and none passes.
  await api.pool.query(
    `insert into llm_requests (project_id, id, created_at, source, model, user_id, metadata, zero_content_retention, received_at)
     select project_id, gen_random_uuid(), created_at, source, model, user_id, metadata, false, received_at from llm_requests, generate_series(1, 2100)
     where id = $1`,
    [idToUuid(safe.id)],
  )
  let cursor: unknown
  const list = async (filter: string, page: string) => {
    const { json } = await api.call('GET', `/api/requests?label=unsafe&${filter}&${page}`, { key })
    cursor = json['next_cursor']
    return [(json['items'] as object[]).length, json['total'], json['total_is_exact'] ?? true]
  }
  for (const filter of ['user_id=ada', 'metadata.team=a']) {
    expect([filter, await list(filter, 'page_size=2&page=2')]).toEqual([filter, [1, 3, true]])
    expect([filter, await list(filter, 'page_size=3')]).toEqual([filter, [3, 3, true]])
    expect([filter, await list(filter, 'page_size=2')]).toEqual([filter, [2, 3, false]])
    // The number before a cursor is unknown.
    expect([filter, await list(filter, `page_size=2&cursor=${String(cursor)}`)]).toEqual([
      filter,
      [1, 1, false],
    ])
  }
})

test('a link that names no project asks once for the request or run, of however many projects somebody sees', async () => {
  const ids = (await Promise.all(many(9, () => api.createProject()))).map(({ projectId }) => projectId)
  const [projectId = ''] = ids
  const call = sampleCall(projectId, { session_id: null })
  await createCallStorage(api.pool).calls([call])
  const target = { kind: 'chat', url: 'http://127.0.0.1:1' }
  const body = { project_id: projectId, agent_name: 'a', target }
  const run = await api.call('POST', '/api/redteam-runs', { operator: true, body })
  const analyst = await signInPerson(api, 'analyst', ids)
  for (const path of [`/api/requests/${call.id}`, `/api/redteam-runs/${String(run.json['id'])}`]) {
    texts.length = 0
    expect([path, (await analyst.call('GET', path)).status]).toEqual([path, 200])
    const asked = texts.filter((text) => /from (llm_requests|redteam_runs) r\b/.test(text))
    expect([path, asked.length]).toEqual([path, 1])
  }
})
