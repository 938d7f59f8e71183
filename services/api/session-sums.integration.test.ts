import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { sampleCall, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

const start = Date.now() - 20 * 60_000
let api: RunningApi
let storage: ReturnType<typeof createCallStorage>

beforeAll(async () => {
  api = await startApi()
  storage = createCallStorage(api.pool)
})

afterAll(() => api.stop())

test('what was cached and what was thought are tokens of a session too', async () => {
  const { projectId, key } = await api.createProject()
  const call = (atMs: number, cached_tokens: number | null, reasoning_tokens: number | null) =>
    sampleCall(projectId, {
      id: newId('request', atMs),
      session_id: 'thinking',
      ...{ prompt_tokens: 400, cached_tokens, completion_tokens: 50, reasoning_tokens },
    })
  await storage.calls([call(start, 9_600, 450), call(start + 1, null, null)])
  const { json } = await api.call('GET', '/api/sessions', { key })
  expect(json['items']).toMatchObject([{ session_id: 'thinking', total_tokens: 10_500 + 450 }])
  const one = await api.call('GET', '/api/sessions/thinking', { key })
  expect(one.json).toMatchObject({ total_tokens: 10_500 + 450 })
})

test('filters choose sessions, whose sums are those of all their calls', async () => {
  const { projectId, key } = await api.createProject()
  const call = (index: number, agent_name: string, user_id: string) =>
    sampleCall(projectId, {
      id: newId('request', start + index * 1_000),
      session_id: 'shared',
      ...{ agent_name, user_id },
    })
  const calls = [
    call(0, 'planner', 'ada'),
    call(1, 'writer', 'ada'),
    call(2, 'planner', 'bob'),
    call(3, 'writer', 'ada'),
    call(4, 'writer', 'cid'),
  ]
  await storage.calls([...calls, sampleCall(projectId, { session_id: 'other', agent_name: 'writer' })])
  await storage.scores(calls.slice(4).map((each) => sampleScoredCall(each)))
  const get = async (path: string, asKey = key) => (await api.call('GET', path, { key: asKey })).json
  const detail = await get('/api/sessions/shared')
  expect(detail).toMatchObject({ calls: 5, unsafe: 1, agents: ['planner', 'writer'] })
  for (const filter of [
    'agent_name=planner',
    'user_id=bob',
    `end=${new Date(start + 1_500).toISOString()}`,
    'agent_name=planner&user_id=ada&limit=1',
  ]) {
    const { items, data = items } = await get(`/api/sessions?${filter}`)
    const [session, ...others] = data as Record<string, unknown>[]
    expect([filter, others]).toEqual([filter, []])
    const inDetail = Object.keys(session ?? {}).map((name) => [name, detail[name]])
    expect([filter, session]).toEqual([filter, Object.fromEntries(inDetail)])
  }
  // Another key finds nothing, with any filter.
  const foreign = await api.createProject()
  expect(await get('/api/sessions?agent_name=planner', foreign.key)).toMatchObject({ items: [], total: 0 })
})

test('a filtered list goes on where its page ended, wherever the other calls of a session stand', async () => {
  const { projectId, key } = await api.createProject()
  const call = (session: number, agent_name: string, atMs: number) =>
    sampleCall(projectId, { id: newId('request', atMs), session_id: `s${session}`, agent_name })
  const sessions = [0, 1, 2, 3, 4]
  await storage.calls([
    ...sessions.map((session) => call(session, 'planner', start + session)),
    // The other way round.
    ...sessions.map((session) => call(session, 'writer', start + 1_000 - session)),
  ])
  const met: unknown[] = []
  let cursor = ''
  do {
    const { json } = await api.call('GET', `/api/sessions?agent_name=planner&page_size=2${cursor}`, { key })
    for (const { session_id, calls } of json['items'] as Record<string, unknown>[])
      met.push([session_id, calls])
    cursor = typeof json['next_cursor'] === 'string' ? `&cursor=${json['next_cursor']}` : ''
  } while (cursor !== '')
  expect(met).toEqual(sessions.toReversed().map((session) => [`s${session}`, 2]))
})
