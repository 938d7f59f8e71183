import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

let api: RunningApi
let key: string
let projectId: string
let calls: LoggedCall[]

beforeAll(async () => {
  api = await startApi()
  ;({ projectId, key } = await api.createProject())
  const storage = createCallStorage(api.pool)
  const fields = { status_code: 503, metadata: JSON.stringify({ team: 'a' }) }
  calls = many(3, (index) =>
    sampleCall(projectId, { id: newId('request', Date.now() - (index + 1) * 60_000), ...fields }),
  )
  await storage.calls(calls)
  const isSafe = { score_value: 1, score_label: 'safe', severity: null } as const
  await storage.scores(
    calls.map((call, index) =>
      sampleScoredCall(call, {
        scores: [
          // Worse than what the scorer says that is asked for.
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
  // Also where nothing passes: whoever reads it by its columns finds them.
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
  const none = await facets('scorer_name=no_such_scorer')
  expect(none).toMatchObject({ calls: 3, label: [], severity: [] })
  expect(none).not.toHaveProperty('scores_are_exact')
  // As the sink counts scorers beyond those that have room of their own; the list finds what they said.
  await api.pool.query(
    `update score_rollups set is_other = true, scorer_name = null where project_id = $1 and scorer_name = 'pii_detection'`,
    [idToUuid(projectId)],
  )
  const atLeast = (values: string[]) => values.map((value) => ({ value, count: 0 }))
  expect(await facets('scorer_name=pii_detection')).toMatchObject({
    scorer_name: [{ value: 'content_safety', count: 3 }],
    label: atLeast(['safe', 'unsafe']),
    severity: atLeast(['medium']),
    scores_are_exact: false,
  })
  const { json } = await api.call('GET', '/api/requests?scorer_name=pii_detection&severity=medium', { key })
  expect(json['total']).toBe(1)
  expect(await facets('')).not.toHaveProperty('scores_are_exact')
})
