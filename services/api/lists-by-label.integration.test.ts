import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

const now = Date.now()
let api: RunningApi
/** Of all statements. */
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
  const idsOf = (answer: { json: Record<string, unknown> }) =>
    (answer.json['items'] as { id: string }[]).map(({ id }) => id)
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
