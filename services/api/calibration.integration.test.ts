import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

let api: RunningApi
let project: { projectId: string; key: string }

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
})
afterAll(() => api.stop())

const scorer = 'jailbreak_detection'

async function seed(value: number | null, expected: 'safe' | 'unsafe', reviewer = 'ana'): Promise<string> {
  const label = value === null ? 'unscored' : value >= 4 ? 'unsafe' : 'safe'
  const requestId = await seedRequest(api.pool, createSealer([]), {
    projectId: project.projectId,
    scores: [{ scorer, value, label, ...(label === 'unsafe' && { severity: 'high' as const }) }],
  })
  await review(requestId, label === expected, expected, reviewer)
  return requestId
}

async function review(requestId: string, agrees: boolean, expected: string, reviewer: string) {
  const body = { request_id: requestId, scorer_name: scorer, agrees, expected_label: expected, reviewer }
  const { status } = await api.call('POST', '/api/reviews', { key: project.key, body })
  expect(status).toBe(201)
}

const read = async (query = '', key = project.key) =>
  (await api.call('GET', `/api/scorers/calibration${query}`, { key })).json['scorers']

test('reviews give precision, recall and a threshold; of several of one score the newest counts', async () => {
  expect(await read()).toEqual([])
  for (let count = 0; count < 12; count++) await seed(5, 'unsafe')
  for (let count = 0; count < 6; count++) await seed(4, 'safe')
  for (let count = 0; count < 2; count++) await seed(1, 'safe')
  const changed = await seed(null, 'safe', 'ben')
  await review(changed, false, 'unsafe', 'zoe')
  expect(await read()).toMatchObject([
    {
      scorer_name: scorer,
      reviewed: 21,
      false_alarms: 6,
      missed: 1,
      precision: { rate: 12 / 18 },
      recall: { rate: 12 / 13 },
      suggested_threshold: { fail_at: 5, reviewed: 20, precision: { rate: 1 }, recall: { rate: 1 } },
    },
  ])
  expect(await read('?scorer_name=other')).toEqual([])
  expect(await read(`?end=${new Date(Date.now() - 3_600_000).toISOString()}`)).toEqual([])
})

test("another project's key sees none of it", async () => {
  const { key } = await api.createProject()
  expect(await read('', key)).toEqual([])
  const named = await api.call('GET', `/api/scorers/calibration?project_id=${project.projectId}`, { key })
  expect(named.status).toBe(403)
})

test('the list shows one line of prompt and answer, which scorers failed, and what people said of it', async () => {
  const { projectId, key } = await api.createProject()
  const id = await seedRequest(api.pool, createSealer([]), {
    projectId,
    requestBody: JSON.stringify({ messages: [{ role: 'user', content: 'Where is\nmy order?' }] }),
    responseBody: JSON.stringify({ choices: [{ message: { content: 'On its way.' } }] }),
    scores: [
      { scorer: 'pii_detection', value: 4, label: 'unsafe', severity: 'high' },
      { scorer, value: 5, label: 'unsafe', severity: 'critical' },
    ],
  })
  await seedRequest(api.pool, createSealer([]), { projectId })
  const list = async (query: string) => {
    const { json } = await api.call('GET', `/api/requests?${query}`, { key })
    return (json['items'] as Record<string, unknown>[]).map((item) => [
      item['preview'],
      item['unsafe_scores'],
    ])
  }
  const score = { kind: null, is_suppressed: false, expected_label: null }
  const [worst, other] = [
    { ...score, scorer_name: scorer, severity: 'critical' },
    { ...score, scorer_name: 'pii_detection', severity: 'high' },
  ]
  const preview = { prompt: 'Where is my order?', answer: 'On its way.' }
  expect(await list('')).toEqual([
    [null, []],
    [preview, [worst, other]],
  ])

  const body = { request_id: id, scorer_name: 'pii_detection', agrees: false }
  expect((await api.call('POST', '/api/reviews', { key, body })).status).toBe(201)
  const reviewed = [[preview, [worst, { ...other, expected_label: 'safe' }]]]
  expect(await list('review=false_alarm')).toEqual(reviewed)
  expect(await list('review=false_alarm&label=unsafe&scorer_name=pii_detection')).toEqual(reviewed)
  expect(await list('review=confirmed')).toEqual([])
  expect(await list('review=unreviewed')).toEqual([[null, []]])
  const [one] = [{ value: 'false_alarm', count: 1 }]
  for (const query of ['', '?label=unsafe', '?review=false_alarm'])
    expect((await api.call('GET', `/api/requests/facets${query}`, { key })).json['review']).toEqual([one])
  const elsewhere = await api.call('GET', '/api/requests?review=false_alarm', { key: project.key })
  expect(elsewhere.text).not.toContain(id)
  // Whoever agrees later has the last word.
  const later = { ...body, agrees: true, reviewer: 'zoe' }
  expect((await api.call('POST', '/api/reviews', { key, body: later })).status).toBe(201)
  expect(await list('review=false_alarm')).toEqual([])
  expect(await list('review=confirmed')).toHaveLength(1)
})
