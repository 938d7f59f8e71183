import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { many, sampleCall, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type Answer, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { until } from '#tests/support/until.ts'
import { writeCursor } from './http/paging.ts'

const start = Date.now() - 20 * 60_000
const sessionCount = 6
let api: RunningApi
let project: { projectId: string; key: string }
let storage: ReturnType<typeof createCallStorage>
/** In order of time; a third of each session is tool calls. */
let calls: LoggedCall[]

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
  storage = createCallStorage(api.pool)
  calls = many(36, (index) => {
    const session = index % sessionCount
    const isTool = Math.floor(index / sessionCount) % 3 === 1
    return sampleCall(project.projectId, {
      id: newId('request', start + index * 1_000),
      session_id: `session ${session}/ü`,
      agent_name: session < 3 ? 'planner' : 'writer',
      model: '=HYPERLINK("http://x")',
      ...(isTool && { type: 'mcp_tool_call', tool_name: 'search' }),
      // One failed without an answer, the other by its status.
      ...(index === 6 && { error: 'failed' }),
      ...(index === 24 && { status_code: 400 }),
    })
  })
  const probe = sampleCall(project.projectId, {
    id: newId('request', start),
    source: 'redteam',
    session_id: 'probes',
  })
  await storage.calls([...calls, probe])
  await storage.scores(calls.slice(0, 2).map((call) => sampleScoredCall(call)))
})

afterAll(() => api.stop())

const get = (path: string) => api.call('GET', path, { key: project.key })
type Items = Record<string, unknown>[]
const sessionIds = (items: Items) => items.map(({ session_id }) => session_id)
const idOf = (session: number) => `session ${session}/ü`

describe('GET /api/sessions', () => {
  test('lists the latest first, with sums', async () => {
    const { json, status } = await get('/api/sessions')
    expect(status).toBe(200)
    expect(sessionIds(json['items'] as Items)).toEqual([5, 4, 3, 2, 1, 0].map(idOf))
    expect((json['items'] as Items).at(-1)).toMatchObject({
      started_at: new Date(start).toISOString(),
      last_at: new Date(start + 30_000).toISOString(),
      calls: 6,
      tool_calls: 2,
      failed: 2,
      unsafe: 1,
      calls_are_exact: true,
      agents: ['planner'],
      total_tokens: 6 * 46,
    })
    expect(json).toMatchObject({ total: 6, page: 1, page_size: 50, next_cursor: null })
    expect((await get('/api/sessions?limit=2')).json).toMatchObject({ total: 6, limit: 2, has_more: true })
    expect(sessionIds((await get('/api/sessions?agent_name=writer')).json['items'] as Items)).toEqual(
      [5, 4, 3].map(idOf),
    )
    expect(sessionIds((await get('/api/sessions?source=redteam')).json['items'] as Items)).toEqual(['probes'])
    const all = await get('/api/sessions?include_redteam=true')
    expect(sessionIds(all.json['items'] as Items)).toContain('probes')
  })

  test('by cursor meets every session once while others come up', async () => {
    const { projectId, key } = await api.createProject()
    const call = (session: string, atMs: number) =>
      sampleCall(projectId, { id: newId('request', atMs), session_id: session })
    await storage.calls(many(10, (index) => call(`s${index % 5}`, start + index)))
    const met: unknown[] = []
    let cursor = ''
    do {
      const { json } = await api.call('GET', `/api/sessions?page_size=2${cursor}`, { key })
      met.push(...sessionIds(json['items'] as Items))
      expect(json).toMatchObject({ total: 5, page: 1, page_size: 2 })
      // One already seen, one not yet seen and a new one move to the front.
      await storage.calls(['s4', 's0', `new ${met.length}`].map((session) => call(session, Date.now())))
      cursor = typeof json['next_cursor'] === 'string' ? `&cursor=${json['next_cursor']}` : ''
    } while (cursor !== '')
    expect(met).toEqual(['s4', 's3', 's2', 's1', 's0'])
    // An older cursor without the first page's start: sessions that continued since are ahead of it.
    const old = `/api/sessions?cursor=${writeCursor(newId('request', start + 10))}`
    expect(sessionIds((await api.call('GET', old, { key })).json['items'] as Items)).toEqual([
      's3',
      's2',
      's1',
    ])
  })

  test('goes on behind a session that is longer than what one page looks through', async () => {
    const { projectId, key } = await api.createProject()
    const call = (session: string, atMs: number) =>
      sampleCall(projectId, { id: newId('request', atMs), session_id: session })
    await storage.calls([
      call('short', start),
      ...many(5_001, (index) => call('endless', start + 1 + index)),
      call('latest', start + 6_000),
    ])
    const first = await api.call('GET', '/api/sessions', { key })
    expect(sessionIds(first.json['items'] as Items)).toEqual(['latest', 'endless'])
    expect((first.json['items'] as Items)[1]).toMatchObject({
      calls: 500,
      calls_are_exact: false,
      started_at: new Date(start + 5_001 - 499).toISOString(),
      total_tokens: 500 * 46,
    })
    expect(first.json).toMatchObject({ total: 2, total_is_exact: false })
    const next = await api.call('GET', `/api/sessions?cursor=${String(first.json['next_cursor'])}`, { key })
    expect(sessionIds(next.json['items'] as Items)).toEqual(['short'])
    expect(next.json['next_cursor']).toBeNull()
  })
})

describe('GET /api/sessions/{id}', () => {
  test('has its calls and tool calls in order, with scores', async () => {
    const path = `/api/sessions/${encodeURIComponent(idOf(0))}`
    const { json, status } = await get(path)
    expect(status).toBe(200)
    const own = calls.filter(({ session_id }) => session_id === idOf(0))
    const items = json['items'] as Items
    expect(items.map(({ id }) => id)).toEqual(own.map(({ id }) => id))
    expect(items.map(({ type }) => type)).toEqual([null, 'mcp_tool_call', null, null, 'mcp_tool_call', null])
    expect(items[0]).toMatchObject({
      worst_label: 'unsafe',
      safety_scores: [{ scorer_name: 'pii_detection', score_value: 5, rationale: 'an address' }],
    })
    expect(json).toMatchObject({ session_id: idOf(0), calls: 6, unsafe: 1, next_cursor: null })
    const limited = (await get(`${path}?limit=4`)).json
    expect(limited).toMatchObject({ limit: 4, has_more: true })
    expect(limited).not.toHaveProperty('next_cursor')
    const first = await get(`${path}?page_size=4`)
    const second = await get(`${path}?page_size=4&cursor=${String(first.json['next_cursor'])}`)
    const paged = [...(first.json['items'] as Items), ...(second.json['items'] as Items)]
    expect(paged.map(({ id }) => id)).toEqual(own.map(({ id }) => id))
  })

  test('filters requests, together with verdicts', async () => {
    const session = `session_id=${encodeURIComponent(idOf(0))}`
    for (const [query, total] of [
      [session, 6],
      [`${session}&label=unsafe`, 1],
      [`${session}&severity=critical&model=none`, 0],
      ['label=unsafe&agent_name=planner', 2],
      ['scorer_name=pii_detection&agent_name=planner&source=gateway', 2],
    ] as const) {
      const { json } = await get(`/api/requests?${query}`)
      expect([query, json['total'], (json['items'] as Items).length]).toEqual([query, total, total])
    }
    // Scores of an ordered run do not count, for the operator's list of all projects either.
    const ofAll = async () =>
      (await api.call('GET', '/api/requests?scorer_name=pii_detection', { operator: true })).json['total']
    const before = Number(await ofAll())
    await api.pool.query(
      `with one as (update safety_scores set run_id = gen_random_uuid() where id = (select min(id::text)::uuid from safety_scores) returning run_id)
       insert into score_runs (id, start_at, end_at, source, alert, status, calls_total, created_at)
       select run_id, now() - interval '1 day', now(), 'postgres', false, 'done', 1, now() from one`,
    )
    expect([before > 1, await ofAll()]).toEqual([true, before - 1])
  })

  test('that does not exist is 404', async () => {
    expect((await get('/api/sessions/none')).status).toBe(404)
  })
})

describe('GET /api/requests/export', () => {
  test('streams every row as CSV that no spreadsheet runs', async () => {
    const { text, status, headers } = await get('/api/requests/export?include_redteam=false')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="requests.csv"')
    const [header, ...lines] = text.trimEnd().split('\r\n')
    expect(header?.split(',').slice(0, 5)).toEqual(['id', 'project_id', 'created_at', 'source', 'model'])
    expect(lines.map((line) => line.split(',')[0])).toEqual(calls.map(({ id }) => id).reverse())
    expect(lines[0]).toContain(`,"'=HYPERLINK(""http://x"")",`)
  })

  test('as JSON lines, over several pages, with filters', async () => {
    const busy = await api.createProject()
    const [ids, model] = [many(1_203, (index) => newId('request', start + index)), 'exported']
    const write = async ({ projectId }: { projectId: string }, some: readonly string[]) =>
      storage.calls(some.map((id) => sampleCall(projectId, { id, model })))
    await write(busy, ids)
    const linesOf = ({ text }: { text: string }) => new Set(text.trimEnd().split('\n')).size
    const path = `/api/requests/export?format=jsonl&model=${model}`
    expect(linesOf(await api.call('GET', path, { key: busy.key }))).toBe(1_203)
    // Ids are unique per project: two others have the same newest id, and the operator's file has all three.
    for (const other of await Promise.all(many(2, () => api.createProject())))
      await write(other, ids.slice(-401))
    expect(linesOf(await api.call('GET', path, { operator: true }))).toBe(1_203 + 2 * 401)
    const unsafe = await get('/api/requests/export?format=jsonl&label=unsafe')
    expect(unsafe.text.trimEnd().split('\n')).toHaveLength(2)
    expect((await get('/api/requests/export?format=jsonl&model=none')).text).toBe('')
  })

  test('is given to eight at once, two of a project, and its place is free again also where the client went away', async () => {
    const locker = await api.pool.connect()
    const holding = async (work: () => Promise<unknown>) => {
      await locker.query('begin; lock table llm_requests in access exclusive mode')
      try {
        await work()
      } finally {
        await locker.query('rollback')
      }
    }
    const others = await Promise.all(Array.from({ length: 4 }, () => api.createProject()))
    try {
      const answers: (Answer & { key: string })[] = []
      const ask = async (key: string) =>
        answers.push({ ...(await api.call('GET', '/api/requests/export', { key })), key })
      let asked: Promise<unknown>[] = []
      await holding(async () => {
        asked = [project, ...others].flatMap(({ key }) => Array.from({ length: 20 }, () => ask(key)))
        await until(() => answers.length === 92)
      })
      await Promise.all(asked)
      const given = answers.filter(({ status }) => status === 200).map(({ key }) => key)
      expect(given).toHaveLength(8)
      for (const key of given) expect(given.filter((one) => one === key).length).toBeLessThanOrEqual(2)
      const busy = answers.filter(({ json }) => json['code'] === 'EXPORTS_BUSY')
      expect(busy.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
        Array.from({ length: 92 }, () => [429, '10']),
      )
      await holding(async () => {
        const leaving = new AbortController()
        let refused = 0
        const left = Array.from({ length: 20 }, async () => {
          const headers = { 'x-service-key': project.key }
          const path = `${api.baseUrl}/api/requests/export`
          const { status } = await fetch(path, { headers, signal: leaving.signal })
          if (status === 429) refused++
        })
        await until(() => refused === 18)
        leaving.abort()
        await Promise.allSettled(left)
      })
      // Each permit is released when its query has ended.
      const again = () => Promise.all(Array.from({ length: 2 }, () => get('/api/requests/export')))
      await until(async () => (await again()).every(({ status }) => status === 200))
    } finally {
      locker.release()
    }
  })

  test.each([
    'format=xml',
    'modle=x',
    'start=2026-02-01&end=2026-01-01',
    'include_redteam=1',
    'limit=3',
    'page_size=3',
    'cursor=x',
  ])('refuses %s', async (query) => {
    expect((await get(`/api/requests/export?${query}`)).status).toBe(422)
  })
})
