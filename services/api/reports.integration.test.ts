import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { positionBefore, writePollCursor } from './http/poll-cursor.ts'
import { countEverywhere } from '#tests/support/count-everywhere.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { until } from '#tests/support/until.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The start of a day: its hours and days are known. */
const day = Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs
let api: RunningApi
let project: { projectId: string; key: string }
let storage: ReturnType<typeof createCallStorage>
let calls: LoggedCall[]

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
  storage = createCallStorage(api.pool)
  const make = (hour: number, minute: number, changes: Partial<LoggedCall> = {}) =>
    sampleCall(project.projectId, { id: newId('request', day + hour * hourMs + minute * 60_000), ...changes })
  calls = [
    ...many(4, (index) => make(1, index, { latency_ms: 100, cost_usd: 0.5 })),
    make(1, 30, {
      model: '=cmd|calc',
      agent_name: null,
      session_id: 'session-2',
      latency_ms: 3_000,
      cost_usd: null,
    }),
    make(8, 0, { status_code: 500, error: 'overloaded', session_id: 'session-2' }),
    make(8, 1, { type: 'mcp_tool_call', tool_name: 'search', tool_names: [] }),
    make(8, 2, {
      type: 'mcp_tool_call',
      tool_name: 'search',
      agent_name: 'planner',
      error: 'timed out',
      status_code: null,
    }),
    make(8, 3, { tool_names: ['search', 'mail'] }),
    make(9, 0, { source: 'redteam', model: 'probe', agent_name: 'probe', session_id: null }),
  ]
  await storage.calls(calls)
  const [first, second, , , , , , , , probe] = calls as [LoggedCall, LoggedCall, ...LoggedCall[]]
  await storage.scores([
    sampleScoredCall(first, {
      scores: [
        sampleScore(first.project_id, first.id),
        sampleScore(first.project_id, first.id, {
          scorer_name: 'hallucination',
          score_label: 'unscored',
          score_value: null,
          severity: null,
        }),
      ],
    }),
    sampleScoredCall(second, {
      scores: [
        sampleScore(second.project_id, second.id, { score_label: 'safe', score_value: 1, severity: null }),
      ],
    }),
    sampleScoredCall(probe as LoggedCall),
  ])
})

afterAll(() => api.stop())

const range = `start=${new Date(day).toISOString()}&end=${new Date(day + dayMs).toISOString()}`
const get = async (path: string, headers: Record<string, string> = {}) =>
  api.call('GET', path, { key: project.key, headers })

describe('GET /api/stats', () => {
  test('counts by steps', async () => {
    const { json, status } = await get(`/api/stats?${range}&step=6h`)
    expect(status).toBe(200)
    expect(json).toMatchObject({ step_hours: 6, by: null, start: new Date(day).toISOString() })
    const series = json['series'] as { total: object; points: Record<string, unknown>[] }[]
    expect(series).toHaveLength(1)
    // One step over the whole range: the same sums, and the percentiles of all calls.
    const whole = (await get(`/api/stats?${range}&step=7d`)).json['series'] as { points: object[] }[]
    expect(whole[0]?.points).toEqual([{ ...series[0]?.total, at: expect.any(String) }])
    expect(series[0]?.total).toMatchObject({ calls: 9, failed: 2, unsafe: 1 })
    expect(series[0]?.points).toMatchObject([
      {
        at: new Date(day).toISOString(),
        calls: 5,
        failed: 0,
        unsafe: 1,
        safe: 1,
        critical: 1,
        priced: 4,
        cost_usd: 2,
        prompt_tokens: 60,
      },
      { at: new Date(day + 6 * hourMs).toISOString(), calls: 4, failed: 2, unsafe: 0 },
    ])
    const [point] = series[0]?.points ?? []
    expect(point?.['latency_p50_ms']).toBeGreaterThan(80)
    expect(point?.['latency_p50_ms']).toBeLessThan(130)
    expect(point?.['latency_p99_ms']).toBeGreaterThan(2_000)
  })

  test('by group, the largest first', async () => {
    const { json } = await get(`/api/stats?${range}&step=1d&by=agent`)
    const series = json['series'] as { name: string | null; is_other: boolean; points: { calls: number }[] }[]
    expect(series.map(({ name, is_other, points }) => [name, is_other, points[0]?.calls])).toEqual([
      ['support-bot', false, 7],
      ['planner', false, 1],
      [null, false, 1],
    ])
    const scorers = (await get(`/api/stats?${range}&step=1d&by=scorer`)).json
    expect(scorers['series']).toMatchObject([
      {
        name: 'pii_detection',
        total: { scores: 2, safe: 1, unsafe: 1, average_score: 3 },
        points: [{ scores: 2, safe: 1, unsafe: 1, average_score: 3 }],
      },
      { name: 'hallucination', points: [{ scores: 1, unscored: 1, average_score: null }] },
    ])
  })

  test('tells at most twenty groups apart', async () => {
    const busy = await api.createProject()
    await storage.calls(
      many(25, (index) =>
        sampleCall(busy.projectId, { id: newId('request', day), model: `m${index}`, latency_ms: index }),
      ),
    )
    const { json } = await api.call('GET', `/api/stats?${range}&by=model&step=1d`, { key: busy.key })
    const series = json['series'] as { is_other: boolean; points: { calls: number }[] }[]
    expect(series).toHaveLength(21)
    expect(series.at(-1)).toMatchObject({ is_other: true, name: null, points: [{ calls: 5 }] })
  })

  test.each([
    ['step=0h', 'step'],
    ['step=1w', 'step'],
    ['by=scorer&model=x', 'model'],
    ['start=2020-01-01&end=2026-01-01&step=1h', 'step'],
  ])('refuses %s', async (query, path) => {
    const { status, json } = await get(`/api/stats?${query}`)
    expect([status, (json['errors'] as { path: string }[])[0]?.path]).toEqual([422, path])
  })

  test('shows the red team only when asked', async () => {
    const { json } = await get(`/api/stats?${range}&step=1d&source=redteam`)
    expect(json['series']).toMatchObject([{ points: [{ calls: 1, unsafe: 1 }] }])
  })
})

test('GET /api/safety-scores/summary counts by scorer', async () => {
  const { json } = await get(`/api/safety-scores/summary?${range}&include_redteam=false`)
  expect(json['project_id']).toBe(project.projectId)
  expect(json['scorers']).toEqual([
    {
      scorer_name: 'hallucination',
      total: 1,
      safe: 0,
      unsafe: 0,
      unscored: 1,
      average_score: null,
      by_severity: { critical: 0, high: 0, medium: 0 },
    },
    {
      scorer_name: 'pii_detection',
      total: 2,
      safe: 1,
      unsafe: 1,
      unscored: 0,
      average_score: 3,
      by_severity: { critical: 1, high: 0, medium: 0 },
    },
  ])
})

test('GET /api/requests/facets gives the values to filter by', async () => {
  const { json, status } = await get(`/api/requests/facets?${range}`)
  expect(status).toBe(200)
  expect(json).toMatchObject({
    calls: 9,
    model: [
      { value: 'gpt-4o-mini', count: 8 },
      { value: '=cmd|calc', count: 1 },
    ],
    agent_name: [
      { value: 'support-bot', count: 7 },
      { value: 'planner', count: 1 },
    ],
    source: [
      { value: 'gateway', count: 9 },
      { value: 'redteam', count: 1 },
    ],
    // What the list finds: `mail` was only offered.
    tool_name: [{ value: 'search', count: 2 }],
    // Scorers with findings: hallucination has none.
    scorer_name: [{ value: 'pii_detection', count: 1 }],
    label: [
      { value: 'pending', count: 7 },
      { value: 'safe', count: 1 },
      { value: 'unsafe', count: 1 },
    ],
    severity: [{ value: 'critical', count: 1 }],
    status: [
      { value: 'failed', count: 2 },
      { value: '5xx', count: 1 },
    ],
  })
})

test.each([
  ['include_redteam=true', 10, 2, 4],
  ['include_redteam=false', 9, 1, 3],
  ['source=redteam', 1, 1, 1],
  ['source=gateway&include_redteam=true', 9, 1, 3],
])('lists, exports and every count beside them agree with %s', async (query, calls, unsafe, scores) => {
  expect(await countEverywhere(get, range, query)).toEqual({
    calls: { list: calls, export: calls, facets: calls, stats: calls },
    unsafe: { list: unsafe, export: unsafe, facets: unsafe, stats: unsafe },
    scores: { list: scores, summary: scores },
    unsafeScores: { list: unsafe, summary: unsafe },
  })
  // From the first transaction on; open ones of other tests delay scores.
  await until(async () => {
    const { json } = await get(`/api/safety-scores?since=${writePollCursor(positionBefore('1'))}&${query}`)
    return (json['items'] as unknown[]).length === scores
  })
})

test('without a word of the red team it is among records and their counts, and not in reports', async () => {
  expect(await countEverywhere(get, range, '')).toMatchObject({
    calls: { list: 10, export: 10, facets: 9, stats: 9 },
    scores: { list: 4, summary: 4 },
  })
})

test('GET /api/tools says who calls what, and how it went', async () => {
  const { json } = await get(`/api/tools?${range}`)
  expect(json).toMatchObject({
    total: 2,
    items: [
      { tool_name: 'mail', calls: 0, failed: 0, requested: 1, agents: ['support-bot'] },
      {
        tool_name: 'search',
        calls: 2,
        failed: 1,
        requested: 1,
        agent_count: 2,
        agents: ['planner', 'support-bot'],
        first_seen_at: new Date(day + 8 * hourMs + 60_000).toISOString(),
        last_seen_at: new Date(day + 8 * hourMs + 180_000).toISOString(),
      },
    ],
  })
  const one = await get(`/api/tools?${range}&limit=1`)
  const behind = await get(`/api/tools?${range}&page=9`)
  expect(behind.json).toMatchObject({ items: [], total: json['total'] })
  expect(one.json).toMatchObject({ total: 2, limit: 1, has_more: true })
  expect((await get(`/api/tools?${range}&agent_name=planner`)).json).toMatchObject({
    items: [{ tool_name: 'search', calls: 1 }],
  })
})
