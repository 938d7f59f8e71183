import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, liveRunId, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

const now = Date.now()
let api: RunningApi
let project: { projectId: string; key: string }
let foreign: { projectId: string; key: string }

const shapes = {
  safe: { score_label: 'safe', score_value: 1, severity: null },
  unsafe: { score_label: 'unsafe', score_value: 5, severity: 'high' },
  undecided: { score_label: 'unscored', score_value: null, severity: null, reason: 'detectors_undecided' },
  outside: { score_label: 'unscored', score_value: null, severity: null, reason: 'language_not_covered' },
  unread: { score_label: 'unscored', score_value: null, severity: null, reason: 'too_slow' },
  inapplicable: { score_label: 'unscored', score_value: null, severity: null, reason: 'no_tools' },
} satisfies Record<string, Partial<Score>>

/** The calls of the tests by their name, the newest first, with the shape of each scorer's score. */
const made = {
  clean: { pii_detection: 'safe', jailbreak_detection: 'undecided', excessive_agency: 'inapplicable' },
  partly: { pii_detection: 'safe', vector_weakness: 'unread', content_safety: 'outside' },
  unread: { pii_detection: 'unread', content_safety: 'unread', excessive_agency: 'inapplicable' },
  bad: { pii_detection: 'unsafe', content_safety: 'unread' },
  pending: {},
} satisfies Record<string, Record<string, keyof typeof shapes>>
type Name = keyof typeof made
const names = Object.keys(made) as Name[]
const callOf = {} as Record<Name, LoggedCall>

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
  foreign = await api.createProject()
  const storage = createCallStorage(api.pool)
  for (const [index, name] of names.entries()) {
    callOf[name] = sampleCall(project.projectId, {
      id: newId('request', now - (index + 1) * 1_000),
      agent_name: name === 'bad' ? 'seldom' : 'common',
    })
  }
  await storage.calls(Object.values(callOf))
  for (const name of names) await storage.scores(recordsOf(callOf[name], made[name]))
})

afterAll(() => api.stop())

function recordsOf(call: LoggedCall, scores: Readonly<Record<string, keyof typeof shapes>>) {
  return Object.entries(scores).map(([scorer, shape]) =>
    sampleScoredCall(call, {
      scores: [
        sampleScore(call.project_id, call.id, {
          ...shapes[shape],
          scorer_name: scorer,
          id: scoreId(call.project_id, call.id, scorer, liveRunId(call.project_id)),
        }),
      ],
    }),
  )
}

const get = (path: string, key = project.key) => api.call('GET', path, { key })
const idsOf = (json: Record<string, unknown>) => (json['items'] as { id: string }[]).map(({ id }) => id)

const readings = {
  clean: ['no_finding', { decided: 1, applicable: 2, total: 3 }, []],
  partly: ['partly_read', { decided: 1, applicable: 3, total: 3 }, ['content_safety', 'vector_weakness']],
  unread: ['not_read', { decided: 0, applicable: 2, total: 3 }, ['content_safety', 'pii_detection']],
  bad: ['unsafe', { decided: 1, applicable: 2, total: 2 }, ['content_safety']],
  pending: [null, null, []],
} as const

test('lists, sessions and the detail say of each call what its scores say together, beside its worst label', async () => {
  const list = await get('/api/requests')
  const session = await get('/api/sessions/session-1?limit=10')
  const shown = (items: unknown): Record<string, unknown> =>
    Object.fromEntries(
      (items as Record<string, unknown>[]).map(({ id, verdict, coverage, unread_scorers }) => [
        names.find((name) => callOf[name].id === id) ?? '',
        [verdict, coverage, unread_scorers],
      ]),
    )
  expect(shown(list.json['items'])).toEqual(readings)
  expect(shown(session.json['data'])).toEqual(readings)
  expect((list.json['items'] as object[])[0]).not.toHaveProperty('decided_count')
  for (const name of names) {
    const { json } = await get(`/api/requests/${callOf[name].id}`)
    expect(shown([json])).toEqual({ [name]: readings[name] })
  }
  const { json } = await get(`/api/requests/${callOf.partly.id}`)
  expect(json['worst_label']).toBe('unscored')
  const classes = (json['safety_scores'] as Record<string, unknown>[]).map(
    ({ scorer_name, unscored_class }) => [scorer_name, unscored_class],
  )
  expect(classes).toEqual([
    ['content_safety', 'outside'],
    ['pii_detection', null],
    ['vector_weakness', 'not_read'],
  ])
})

test.each<[filter: string, found: Name[]]>([
  ['verdict=no_finding', ['clean']],
  ['verdict=partly_read', ['partly']],
  ['verdict=not_read', ['unread']],
  ['verdict=unsafe', ['bad']],
  ['verdict=unsafe&severity=high', ['bad']],
  ['verdict=no_finding&label=unscored', ['clean']],
  ['verdict=no_finding&label=safe', []],
  ['verdict=not_read&session_id=session-1', ['unread']],
  ['verdict=partly_read&agent_name=common', ['partly']],
  ['verdict=unsafe&agent_name=seldom', ['bad']],
  ['verdict=partly_read&metadata.team=a', ['partly']],
  ['verdict=partly_read&metadata.team=b', []],
  // The label is the scorer's then, the verdict that of all.
  ['verdict=partly_read&scorer_name=pii_detection&label=safe', ['partly']],
  ['verdict=not_read&scorer_name=pii_detection&metadata.team=a', ['unread']],
  ['verdict=no_finding&scorer_name=pii_detection&session_id=session-1', ['clean']],
  ['verdict=not_read&source=gateway', ['unread']],
  ['verdict=not_read&source=sdk', []],
])('%s chooses %s', async (filter, found) => {
  const wanted = found.map((name) => callOf[name].id)
  const { json } = await get(`/api/requests?${filter}`)
  expect([idsOf(json), json['total']]).toEqual([wanted, wanted.length])
  const every = await api.call('GET', `/api/requests?${filter}`, { operator: true })
  expect(idsOf(every.json).filter((id) => Object.values(callOf).some((call) => call.id === id))).toEqual(
    wanted,
  )
  // Nothing of it reaches another tenant.
  const other = await get(`/api/requests?${filter}`, foreign.key)
  expect([idsOf(other.json), other.json['total']]).toEqual([[], 0])
})

test('facets and statistics count calls by verdict, for their own tenant alone', async () => {
  const counts = [
    { value: 'no_finding', count: 1 },
    { value: 'not_read', count: 1 },
    { value: 'partly_read', count: 1 },
    { value: 'unsafe', count: 1 },
  ]
  const facetOf = async (query: string, key?: string) => {
    const { json } = await get(`/api/requests/facets?${query}`, key)
    const values = json['verdict'] as { value: string; count: number }[]
    return values.toSorted((one, other) => (one.value < other.value ? -1 : 1))
  }
  expect(await facetOf('')).toEqual(counts)
  expect(await facetOf('session_id=session-1')).toEqual(counts)
  expect(await facetOf('verdict=not_read')).toEqual([{ value: 'not_read', count: 1 }])
  expect([await facetOf('', foreign.key), await facetOf('verdict=unsafe', foreign.key)]).toEqual([[], []])

  const totalsOf = async (query: string, key?: string) => {
    const { json } = await get(`/api/stats?${query}`, key)
    return (json['series'] as { name: string | null; total: Record<string, number> }[]).map(
      ({ name, total }) => [
        name,
        ...[
          'calls',
          'unsafe',
          'no_finding',
          'partly_read',
          'not_read',
          'scores_decided',
          'scores_applicable',
        ].map((sum) => total[sum]),
      ],
    )
  }
  expect(await totalsOf('')).toEqual([[null, 5, 1, 1, 1, 1, 3, 9]])
  expect(await totalsOf('by=agent&step=1d')).toEqual([
    ['common', 4, 0, 1, 1, 1, 2, 7],
    ['seldom', 1, 1, 0, 0, 0, 1, 2],
  ])
  expect(await totalsOf('by=agent&agent_name=seldom')).toEqual([['seldom', 1, 1, 0, 0, 0, 1, 2]])
  expect(await totalsOf('', foreign.key)).toEqual([])
})

test('an export has the verdict, and an unknown one is refused by name', async () => {
  const lines = await get('/api/requests/export?format=jsonl&verdict=partly_read')
  expect(JSON.parse(lines.text)).toMatchObject({ id: callOf.partly.id, verdict: 'partly_read' })
  for (const [query, detail] of [
    ['verdict=clean', /^verdict: .*unsafe/],
    ['verdict=unsafe&label=pending', /^verdict: /],
  ] as const) {
    const { status, json } = await get(`/api/requests?${query}`)
    expect([status, json['detail']]).toEqual([422, expect.stringMatching(detail)])
  }
})

test('a call whose verdict is still to be derived says so in lists; its own page reads its scores', async () => {
  const own = await api.createProject()
  const call = sampleCall(own.projectId)
  const storage = createCallStorage(api.pool)
  await storage.calls([call])
  await storage.scores(recordsOf(call, made.partly))
  await api.pool.query(
    `update request_verdicts set verdict = null, decided_count = null, applicable_count = null, unread_scorers = null
     where project_id = $1`,
    [idToUuid(own.projectId)],
  )
  const [item] = (await get('/api/requests', own.key)).json['items'] as object[]
  expect(item).toMatchObject({ worst_label: 'unscored', verdict: null, coverage: null, unread_scorers: [] })
  const [verdict, coverage, unread_scorers] = readings.partly
  expect((await get(`/api/requests/${call.id}`, own.key)).json).toMatchObject({
    verdict,
    coverage,
    unread_scorers,
  })
})
