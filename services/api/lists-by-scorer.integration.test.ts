import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type CallOptions, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

let api: RunningApi
let key: string
let projectId: string
let calls: LoggedCall[]

beforeAll(async () => {
  api = await startApi()
  ;({ projectId, key } = await api.createProject())
  const storage = createCallStorage(api.pool)
  const fields = (index: number) => ({
    status_code: 503,
    metadata: JSON.stringify({ team: 'a', n: index, 'tries.made': String(index) }),
  })
  calls = many(3, (index) =>
    sampleCall(projectId, { id: newId('request', Date.now() - (index + 1) * 60_000), ...fields(index) }),
  )
  await storage.calls(calls)
  const isSafe = { score_value: 1, score_label: 'safe', severity: null } as const
  await storage.scores(
    calls.map((call, index) =>
      sampleScoredCall(call, {
        scores: [
          // Worse than the selected scorer's.
          sampleScore(projectId, call.id, { scorer_name: 'content_safety', severity: 'critical' }),
          sampleScore(projectId, call.id, index === 0 ? { severity: 'medium', score_value: 4 } : isSafe),
        ],
      }),
    ),
  )
})

afterAll(() => api.stop())

test.each([
  'scorer_name=pii_detection',
  'scorer_name=pii_detection&limit=50',
  'scorer_name=pii_detection&status=failed',
  'scorer_name=pii_detection&metadata.team=a',
])('a list by %s has beside each call what that scorer said of it', async (query) => {
  const path = `/api/requests?${query}`
  for (const { status, json } of [
    await api.call('GET', path, { key }),
    await api.call('GET', path, { operator: true }),
    await api.call('GET', `${path}&project_id=${projectId}`, { operator: true }),
  ]) {
    expect(status).toBe(200)
    expect(json['items'] ?? json['data']).toMatchObject(
      calls.map(({ id }, index) => ({
        id,
        worst_severity: 'critical',
        ...(index === 0
          ? { scorer_label: 'unsafe', scorer_severity: 'medium', scorer_value: 4 }
          : { scorer_label: 'safe', scorer_severity: null, scorer_value: 1 }),
      })),
    )
  }
  expect((await api.call('GET', '/api/requests', { key })).text).not.toContain('scorer_label')
})

test.each([
  ['model.not=another', 3],
  ['model.not=gpt-4o-mini', 0],
  ['agent_name.contains=PORT&model.prefix=gpt', 3],
  ['status_code.gt=503', 0],
  ['status_code.gt=502&latency_ms.lt=400&label=unsafe', 3],
  ['scorer_name=pii_detection&label=unsafe&agent_name.prefix=support', 1],
  ['metadata_not.team=a', 0],
  ['metadata_not.absent=a', 3],
  ['metadata_prefix.team=a&metadata_gt.n=0', 2],
  ['metadata_lt.tries.made=1&metadata_contains.team=A', 1],
  ['metadata_gt.team=0', 0],
])('calls are chosen by %s', async (query, count) => {
  const { json } = await api.call('GET', `/api/requests?${query}`, { key })
  expect([json['total'], (json['items'] as unknown[]).length]).toEqual([count, count])
  const facets = await api.call('GET', `/api/requests/facets?${query}`, { key })
  expect(facets.json['calls']).toBe(count)
})

test.each([
  ['latency_ms.gt', 'must be a number, for instance 1500 or 0.25'],
  ['model.like', 'is not known here; there are model.not, model.contains, model.prefix'],
  ['label.not', 'is not known here: label has no operators'],
  ['modle.not', 'is not known here'],
  ['metadata_gt.n', 'must be a number, for instance 1500 or 0.25'],
  ['metadata_like.n', 'is not known here'],
  ['metadata_not.', 'is not known here'],
])('refuses %s in words', async (path, message) => {
  const { status, json } = await api.call('GET', `/api/requests?${path}=safe`, { key })
  expect([status, json['errors']]).toEqual([422, [{ path, message }]])
})

test('an export by a scorer has what that one said too, and else no such columns', async () => {
  const linesOf = async (query: string) =>
    (await api.call('GET', `/api/requests/export?${query}`, { key })).text.trimEnd().split(/\r?\n/)
  const endOf = (line: string) => line.split(',').slice(-3)
  const [head = '', ...rows] = await linesOf('scorer_name=pii_detection')
  expect(endOf(head)).toEqual(['scorer_label', 'scorer_severity', 'scorer_value'])
  const isSafe = ['safe', '', '1']
  expect(rows.map(endOf)).toEqual([['unsafe', 'medium', '4'], isSafe, isSafe])
  const [first = ''] = await linesOf('scorer_name=pii_detection&format=jsonl')
  expect(JSON.parse(first)).toMatchObject({
    scorer_label: 'unsafe',
    scorer_severity: 'medium',
    scorer_value: 4,
  })
  expect((await linesOf(''))[0]).not.toContain('scorer_')
  // The header has the columns even when no row follows.
  expect(endOf((await linesOf('scorer_name=none'))[0] ?? '')).toEqual(endOf(head))
})

test('facets with a scorer count what that one said', async () => {
  const facets = async (query: string) =>
    (await api.call('GET', `/api/requests/facets?${query}`, { key })).json
  expect(await facets('')).toMatchObject({
    label: [{ value: 'unsafe', count: 3 }],
    severity: [{ value: 'critical', count: 3 }],
  })
  expect(await facets('scorer_name=pii_detection')).toMatchObject({
    calls: 3,
    label: [
      { value: 'safe', count: 2 },
      { value: 'unsafe', count: 1 },
    ],
    severity: [{ value: 'medium', count: 1 }],
  })
  expect(await facets('scorer_name=no_such_scorer')).toMatchObject({ calls: 0, label: [], severity: [] })
  // The sink's overflow group, as scorers beyond the limit are counted; each call's scores are known.
  await api.pool.query(
    `update score_rollups set is_other = true, scorer_name = null where project_id = $1 and scorer_name = 'pii_detection'`,
    [idToUuid(projectId)],
  )
  expect(await facets('scorer_name=pii_detection')).toMatchObject({
    label: [
      { value: 'safe', count: 2 },
      { value: 'unsafe', count: 1 },
    ],
    severity: [{ value: 'medium', count: 1 }],
  })
  expect(await facets('')).not.toHaveProperty('scores_are_exact')
})

test('facets count the calls that pass the filters, and the scorers that found one of them unsafe', async () => {
  const other = await api.createProject()
  const mine = await api.createProject()
  const storage = createCallStorage(api.pool)
  const at = (index: number) => newId('request', Date.now() - (index + 1) * 60_000)
  const logged = [
    sampleCall(mine.projectId, {
      id: at(0),
      model: 'a',
      agent_name: 'x',
      status_code: 503,
      metadata: '{"team":"mine"}',
    }),
    sampleCall(mine.projectId, { id: at(1), model: 'a', agent_name: 'y', status_code: 200 }),
    sampleCall(mine.projectId, { id: at(2), model: 'b', agent_name: 'x', status_code: 200, session_id: 's' }),
    sampleCall(mine.projectId, {
      id: at(3),
      model: 'b',
      tool_name: 'search',
      error: 'no',
      status_code: null,
    }),
    sampleCall(mine.projectId, { id: at(4), model: 'a', source: 'redteam' }),
  ]
  // Another project's calls under the same names do not count.
  const foreign = many(3, (index) =>
    sampleCall(other.projectId, { id: at(index), model: 'a', agent_name: 'x' }),
  )
  await storage.calls([...logged, ...foreign])
  const isSafe = { score_value: 1, score_label: 'safe', severity: null } as const
  await storage.scores([
    ...logged.slice(0, 3).map((call, index) =>
      sampleScoredCall(call, {
        scores: [
          sampleScore(call.project_id, call.id, index === 1 ? {} : isSafe),
          sampleScore(call.project_id, call.id, { scorer_name: 'hallucination', ...isSafe }),
        ],
      }),
    ),
    ...foreign.map((call) => sampleScoredCall(call)),
  ])
  const list = async (query: string) => {
    const sources = query === 'source=redteam' ? '' : 'include_redteam=false&'
    return (await api.call('GET', `/api/requests?${sources}${query}`, mine)).json['total']
  }
  const facets = async (query: string, caller: CallOptions = mine) => {
    const { json } = await api.call('GET', `/api/requests/facets?${query}`, caller)
    const counted = Object.entries(json).flatMap(([name, values]) =>
      Array.isArray(values)
        ? (values as { value: string; count: number }[]).map(
            ({ value, count }) => `${name} ${value} ${count}`,
          )
        : [],
    )
    return { calls: json['calls'], counted: counted.toSorted(), exact: json['counts_are_exact'] }
  }
  const ofModel = await facets('model=a')
  expect(ofModel).toEqual({
    calls: 2,
    counted: [
      ...['agent_name x 1', 'agent_name y 1', 'label safe 1', 'label unsafe 1', 'model a 2'],
      ...['provider openai 2', 'scorer_name pii_detection 1', 'severity critical 1'],
      // All of them, because one selects another.
      ...['source gateway 2', 'source redteam 1', 'status 5xx 1', 'status failed 1'],
      ...['verdict no_finding 1', 'verdict unsafe 1'],
    ],
    exact: undefined,
  })
  for (const [query, fired] of [
    ...([
      ['model=a', 1],
      ['agent_name=x', 0],
      ['session_id=s', 0],
      ['metadata.team=mine', 0],
    ] as const),
    ...([
      ['status=failed', 0],
      ['status=5xx', 0],
      ['label=unsafe', 1],
      ['label=pending', 0],
    ] as const),
    ...([
      ['severity=critical', 1],
      ['tool_name=search', 0],
      ['scorer_name=hallucination', 1],
    ] as const),
    ...([
      ['scorer_name=pii_detection&label=safe', 0],
      ['source=redteam', 0],
      ['user_id=nobody', 0],
    ] as const),
  ]) {
    const { calls: passing, counted } = await facets(query)
    expect([query, passing, counted.filter((one) => one.startsWith('scorer_name'))]).toEqual([
      query,
      await list(query),
      fired === 0 ? [] : [`scorer_name pii_detection ${fired}`],
    ])
  }
  // The operator who names the project gets the same; a key sees no other project.
  expect(await facets(`model=a&project_id=${mine.projectId}`, { operator: true })).toEqual(ofModel)
  const foreigner = await api.call('GET', `/api/requests/facets?model=a&project_id=${other.projectId}`, mine)
  expect(foreigner.status).toBe(403)
  const misspelt = await api.call('GET', '/api/requests/facets?modle=a', mine)
  expect([misspelt.status, (misspelt.json['errors'] as { path: string }[])[0]?.path]).toEqual([422, 'modle'])
})
