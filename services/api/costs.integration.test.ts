import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { foldAll } from '#services/sink/testing/fold-all.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const day = Math.floor(Date.now() / dayMs) * dayMs - 3 * dayMs
let api: RunningApi
let project: { projectId: string; key: string }
let other: { projectId: string; key: string }

const call = (projectId: string, hour: number, changes: Partial<LoggedCall>) =>
  sampleCall(projectId, {
    id: newId('request', day + hour * hourMs),
    ...{ cost_usd: 1, latency_ms: 100, prompt_tokens: 10, completion_tokens: 5, cached_tokens: 2 },
    ...{ reasoning_tokens: 1, user_id: 'ada', session_id: 's-1', agent_name: 'shop', model: 'small' },
    ...changes,
  })

beforeAll(async () => {
  api = await startApi()
  ;[project, other] = [await api.createProject(), await api.createProject()]
  await api.pool.query('update projects set metadata_keys = $2 where id = $1', [
    idToUuid(project.projectId),
    JSON.stringify([{ name: 'team', counted_from: '2026-01-01T00:00:00.000Z' }]),
  ])
  const team = (name: string, place: string) => JSON.stringify({ team: name, place })
  const make = (hour: number, changes: Partial<LoggedCall>) => call(project.projectId, hour, changes)
  const unsafe = make(30, { metadata: team('=search', 'oslo'), cost_usd: 4, latency_ms: 3_000 })
  const storage = createCallStorage(api.pool)
  await storage.calls([
    // The period before.
    make(2, { metadata: team('shop', 'oslo'), cost_usd: 8 }),
    // The period.
    unsafe,
    make(31, { metadata: team('shop', 'rome'), user_id: 'bob', cost_usd: null, model: 'large' }),
    make(31, { metadata: team('shop', 'rome'), session_id: 's-2', status_code: 500 }),
    make(32, { user_id: null, metadata: null, tool_name: 'search', provider: null }),
    make(33, { source: 'redteam', cost_usd: 100 }),
    call(other.projectId, 31, { user_id: 'eve', cost_usd: 64 }),
  ])
  await storage.scores([sampleScoredCall(unsafe, { scores: [sampleScore(unsafe.project_id, unsafe.id)] })])
  await foldAll(api.pool, 1)
})

afterAll(() => api.stop())

const at = (hour: number) => new Date(day + hour * hourMs).toISOString()
const period = `start=${at(24)}&end=${at(48)}`
const get = (query: string, path = '/api/costs') => api.call('GET', `${path}?${query}`, { key: project.key })

interface Group {
  values: (string | null)[]
  is_other: boolean
  cost_usd: number
  calls: number
  previous: { cost_usd: number } | null
}
const groupsOf = ({ json }: { json: Record<string, unknown> }) =>
  (json['groups'] as Group[]).map(({ values, cost_usd, calls, previous }) => [
    values.join('/'),
    cost_usd,
    calls,
    previous?.cost_usd,
  ])

test.each<[by: string, groups: unknown[][]]>([
  [
    'metadata.team',
    [
      ['=search', 4, 1, 0],
      ['shop', 1, 2, 8],
      ['', 1, 1, 0],
    ],
  ],
  [
    'user',
    [
      ['ada', 5, 2, 8],
      ['', 1, 1, 0],
      ['bob', 0, 1, 0],
    ],
  ],
  [
    'model',
    [
      ['small', 6, 3, 8],
      ['large', 0, 1, 0],
    ],
  ],
  ['agent', [['shop', 6, 4, 8]]],
  // No roll-up has these: the calls themselves are read.
  [
    'metadata.place',
    [
      ['oslo', 4, 1, 8],
      ['rome', 1, 2, 0],
      ['', 1, 1, 0],
    ],
  ],
  [
    'user,metadata.team',
    [
      ['ada/=search', 4, 1, 0],
      ['ada/shop', 1, 1, 8],
      ['/', 1, 1, 0],
      ['bob/shop', 0, 1, 0],
    ],
  ],
])('costs by %s add up to those of all calls, beside the period before', async (by, groups) => {
  const answer = await get(`${period}&by=${by}`)
  expect([answer.status, groupsOf(answer)]).toEqual([200, groups])
  const { total, previous, series, counted_from } = answer.json as Record<string, Record<string, unknown>>
  expect(total).toMatchObject({ calls: 4, failed: 1, unsafe: 1, tokens: 72, priced: 3, cost_usd: 6 })
  expect(total?.['latency_p95_ms']).toBeGreaterThan(2_000)
  expect([previous?.['cost_usd'], counted_from]).toEqual([8, null])
  const points = (series as unknown as { points: { calls: number }[] }[]).flatMap((each) => each.points)
  expect(points.reduce((sum, { calls }) => sum + calls, 0)).toBe(4)
})

test('costs of one user are those of their calls', async () => {
  const ofAda = await get(`${period}&by=model&user_id=ada`)
  expect(groupsOf(ofAda)).toEqual([['small', 5, 2, 8]])
  expect(ofAda.json).toMatchObject({ total: { calls: 2, failed: 1, unsafe: 1 }, counted_from: null })
  expect((await get(`${period}&user_id=eve`)).json).toMatchObject({ groups: [], total: { calls: 0 } })
  const every = await api.call('GET', '/api/costs?user_id=ada', { operator: true })
  expect(every.json['errors']).toEqual([{ path: 'project_id', message: 'is required with user_id' }])
})

test('the order, the sources and the period before are the caller’s choice', async () => {
  const ordered = await get(`${period}&by=metadata.team&order=calls`)
  expect(groupsOf(ordered)[0]).toEqual(['shop', 1, 2, 8])
  const attacks = await get(`${period}&by=source&include_redteam=true`)
  expect(groupsOf(attacks)[0]).toEqual(['redteam', 100, 1, 0])
  const earlier = await get(`${period}&by=model&previous_start=${at(12)}`)
  expect(earlier.json).toMatchObject({ previous_start: at(12), previous: { calls: 0 } })
})

test.each([
  ['by=team', 'by', /unknown dimension "team"; known are model, .*metadata/],
  ['by=model,agent,user', 'by', /has 3 dimensions; at most 2/],
  ['by=model,model', 'by', /model twice/],
  [`${period}&previous_start=${at(30)}`, 'previous_start', /not before start/],
])('%s is refused in words', async (query, path, message) => {
  const { status, json } = await get(query)
  expect(status).toBe(422)
  expect(json['errors']).toEqual([{ path, message: expect.stringMatching(message) }])
})

test('the file has the same groups, and no formulas', async () => {
  const { text } = await get(`${period}&by=metadata.team`, '/api/costs/export')
  const lines = text.split('\r\n').map((line) => line.split(','))
  expect(lines.map(([name]) => name)).toEqual(['metadata.team', "'=search", 'shop', '', '(total)', ''])
  expect(lines[0]).toContain('previous_cost_usd')
})

test('operators see all projects beside one another; a project sees its own', async () => {
  const every = await api.call('GET', `/api/costs?${period}&by=project`, { operator: true })
  expect(groupsOf(every)).toEqual([
    [other.projectId, 64, 1, 0],
    [project.projectId, 6, 4, 8],
  ])
  expect(every.json['project_id']).toBeNull()
  const ofUsers = await api.call('GET', '/api/costs?by=user', { operator: true })
  expect(ofUsers.json['errors']).toEqual([{ path: 'project_id', message: 'is required with by=user' }])
  expect(groupsOf(await get(`${period}&by=project`))).toEqual([[project.projectId, 6, 4, 8]])
})

test('GET /api/users says who calls, what it costs and when they were last seen', async () => {
  const { json } = await get(period, '/api/users')
  expect(json).toMatchObject({ total: 2, page: 1 })
  expect(json['items']).toMatchObject([
    { user_id: 'ada', calls: 2, failed: 1, unsafe: 1, tokens: 36, cost_usd: 5, sessions: 2 },
    { user_id: 'bob', calls: 1, priced: 0, cost_usd: 0, sessions: 1, last_seen_at: at(31) },
  ])
  const latest = await get(`${period}&order=last_seen&user_id=bob`, '/api/users')
  expect(latest.json['items']).toMatchObject([{ user_id: 'bob', sessions_are_exact: true }])
  expect((await get(`${period}&page=9`, '/api/users')).json).toMatchObject({ items: [], total: 2 })
})

test('the 300 largest have a group of their own, and the rest one', async () => {
  const { projectId, key } = await api.createProject()
  const calls = many(305, (index) =>
    call(projectId, 31, { user_id: `user-${index}`, cost_usd: index + 1, id: newId('request', day + dayMs) }),
  )
  await createCallStorage(api.pool).calls(calls)
  const answer = await api.call('GET', `/api/costs?${period}&by=user`, { key })
  const groups = groupsOf(answer)
  expect([groups.length, groups[0], groups.at(-1)]).toEqual([301, ['user-304', 305, 1, 0], ['', 15, 5, 0]])
  expect((answer.json['groups'] as Group[]).at(-1)).toMatchObject({ values: [], is_other: true })
  expect(answer.json['total']).toMatchObject({ calls: 305, cost_usd: (305 * 306) / 2 })
})

test('of a grouping that no roll-up has, the newest 100,000 calls are read, and it says so', async () => {
  const { projectId, key } = await api.createProject()
  await api.pool.query(
    `insert into llm_requests (project_id, id, created_at, source, model, metadata, zero_content_retention, received_at)
     select $1, gen_random_uuid(), $2::timestamptz - n * interval '0.5 s', 'gateway', 'small', '{"place": 7}', false, now()
     from generate_series(1, 100010) n`,
    [idToUuid(projectId), new Date(day + 40 * hourMs)],
  )
  const { json } = await api.call('GET', `/api/costs?${period}&by=metadata.place`, { key })
  expect(json).toMatchObject({ total: { calls: 100_000 }, previous: null, groups: [{ values: ['7'] }] })
  expect(Date.parse(String(json['counted_from']))).toBeLessThan(day + 40 * hourMs - 49_999_000)
})
