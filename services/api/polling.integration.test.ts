import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { many, sampleCall, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { until } from '#tests/support/until.ts'

const day = Date.now() - 2 * 86_400_000
let api: RunningApi
let project: { projectId: string; key: string }
let storage: ReturnType<typeof createCallStorage>

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
  storage = createCallStorage(api.pool)
  const calls = many(3, () => sampleCall(project.projectId, { id: newId('request', day) }))
  await storage.calls(calls)
  await storage.scores(calls.map((call) => sampleScoredCall(call)))
})

afterAll(() => api.stop())

const range = `start=${new Date(day - 3_600_000).toISOString()}&end=${new Date(day + 3_600_000).toISOString()}`
const get = async (path: string, headers: Record<string, string> = {}) =>
  api.call('GET', path, { key: project.key, headers })

test('what has not changed is not sent again', async () => {
  for (const path of [
    '/api/requests',
    '/api/safety-scores',
    '/api/tools',
    '/api/users',
    `/api/costs?${range}`,
    `/api/stats?${range}`,
    `/api/requests/facets?${range}`,
    `/api/safety-scores/summary?${range}`,
  ]) {
    const first = await get(path)
    const etag = String(first.headers.get('etag'))
    expect([path, etag]).toEqual([path, expect.stringMatching(/^"[\w-]{43}"$/)])
    const again = await get(path, { 'if-none-match': `"other", W/${etag}` })
    expect([path, again.status, again.text]).toEqual([path, 304, ''])
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200)
  }
})

/** Until a request for scores waits for the lock. */
const untilScoresAreWaitedFor = () =>
  until(async () => {
    const { rowCount } = await api.pool.query(
      `select from pg_locks where not granted and relation = 'safety_scores'::regclass
       and database = (select oid from pg_database where datname = current_database())`,
    )
    return rowCount === 1
  })

test('a request shows the verdict of the scores that it shows, also of those stored while it was read', async () => {
  const call = sampleCall(project.projectId, { id: newId('request', day + 1) })
  await storage.calls([call])
  await storage.scores([sampleScoredCall(call)])
  const locker = await api.pool.connect()
  try {
    await locker.query('begin; lock table safety_scores in access exclusive mode')
    const answer = get(`/api/requests/${call.id}`)
    await untilScoresAreWaitedFor()
    await locker.query(
      `create temporary table another as select * from safety_scores where request_id = '${idToUuid(call.id)}' limit 1;
       update another set id = gen_random_uuid(), scorer_name = 'another';
       insert into safety_scores select * from another;
       update request_verdicts set score_count = score_count + 1 where request_id = '${idToUuid(call.id)}';
       commit`,
    )
    const { score_count: count, safety_scores: scores } = (await answer).json
    expect(scores).toHaveLength(Number(count))
    expect((scores as { scorer_name: string }[]).map((score) => score.scorer_name)).toContain('another')
  } finally {
    await locker.query('rollback; drop table if exists another')
    locker.release()
  }
})

describe('GET /api/safety-scores?since=', () => {
  const poll = async (key: string, since: string, query = '') =>
    (await api.call('GET', `/api/safety-scores?since=${since}${query}`, { key })).json as {
      items: { id: string }[]
      next_since: string
      has_more: boolean
    }

  /** Open transactions of other tests on the server delay scores too. */
  const pollUntil = async (
    key: string,
    from: string,
    count: number,
    query = '',
  ): Promise<[string[], string]> => {
    const seen: string[] = []
    let since = from
    await until(async () => {
      const page = await poll(key, since, query)
      seen.push(...page.items.map(({ id }) => id))
      since = page.next_since
      return seen.length >= count && !page.has_more
    })
    return [seen, since]
  }

  test('gives every score once, although those stored first may be seen last', async () => {
    const { projectId, key } = await api.createProject()
    const stored = many(6, (index) => sampleCall(projectId, { id: newId('request', day + index) }))
    await storage.calls(stored)
    const scored = stored.map((call) => sampleScoredCall(call))
    const ids = (from: number, to: number) => scored.slice(from, to).map(({ scores }) => scores[0]?.id)
    let { next_since: since } = await poll(key, 'now')
    // Another writer starts first and commits last.
    const slow = await api.pool.connect()
    await slow.query('begin; select pg_current_xact_id()')
    await storage.scores(scored.slice(0, 2))
    const held = await poll(key, since)
    expect(held.items).toEqual([])
    since = held.next_since
    await slow.query('rollback')
    slow.release()
    const [seen, next] = await pollUntil(key, since, 2)
    expect(seen.sort()).toEqual(ids(0, 2).sort())
    // One transaction's scores, over several pages.
    await storage.scores(scored.slice(2))
    const [seenNext] = await pollUntil(key, next, 4, '&page_size=1')
    expect(seenNext.sort()).toEqual(ids(2, 6).sort())
    const [seenAgain] = await pollUntil(key, since, 6)
    expect(seenAgain.sort()).toEqual(ids(0, 6).sort())
    expect((await poll(key, since, '&label=safe')).items).toEqual([])
  })

  test('gives a score once that is stored between its look at the horizon and its look at the scores', async () => {
    const { projectId, key } = await api.createProject()
    const call = sampleCall(projectId, { id: newId('request', day) })
    await storage.calls([call])
    const scored = sampleScoredCall(call)
    await storage.scores([scored])
    const writer = await api.pool.connect()
    try {
      await writer.query('begin; lock table safety_scores in access exclusive mode')
      const { next_since: since } = await poll(key, 'now')
      // As a promotion does.
      const store = 'update safety_scores set stored_xid = pg_current_xact_id() where request_id = $1'
      await writer.query(store, [idToUuid(call.id)])
      const answer = poll(key, since)
      await untilScoresAreWaitedFor()
      await writer.query('commit')
      const page = await answer
      const [others] = await pollUntil(key, page.next_since, 1 - page.items.length)
      expect([...page.items.map(({ id }) => id), ...others]).toEqual(scored.scores.map(({ id }) => id))
    } finally {
      await writer.query('rollback')
      writer.release()
    }
  })

  test.each(['nonsense', 'OTk5OTk5OTk5OTk5OTk5', 'now&page=2'])('refuses %s', async (since) => {
    expect((await get(`/api/safety-scores?since=${since}`)).status).toBe(422)
  })
})
