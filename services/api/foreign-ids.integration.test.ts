import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { hashedId, idToUuid, liveRunId, newId } from '#schemas/ids.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { bodyExamples } from './http/body-examples.ts'
import { writeCursor } from './http/paging.ts'
import { createProjectDatabases } from './stores/project-database.ts'
import { createRequestStore } from './stores/request-store.ts'

/** Another project's ids outside the path, which isolation.integration.test.ts tests. */
type Project = Awaited<ReturnType<RunningApi['createProject']>>
let api: RunningApi
let victim: Project
let attacker: Project
let requestId: string
let webhookId: string
/** Paths without ids that a key may read. */
let paths: string[]

beforeAll(async () => {
  api = await startApi()
  victim = await api.createProject()
  attacker = await api.createProject()
  requestId = await seedRequest(api.pool, createSealer([]), {
    projectId: victim.projectId,
    requestBody: '{"secret":"VICTIM"}',
    sessionId: 'VICTIM-session',
    scores: [{ scorer: 'pii_detection', value: 1, label: 'safe' }],
  })
  const body = bodyExamples['post /api/v1/webhooks']
  webhookId = String((await api.call('POST', '/api/v1/webhooks', { key: victim.key, body })).json['id'])
  const { json } = await api.call('GET', '/openapi.json')
  const described = json['paths'] as Record<string, { get?: { security: object[] } }>
  paths = Object.keys(described).filter((path) => {
    const security = described[path]?.get?.security ?? []
    return !path.includes('{') && !security.every((scheme) => 'operator' in scheme)
  })
})

afterAll(() => api.stop())

test("a key finds nothing by another project's ids in queries", async () => {
  const key = attacker.key
  const cursors = [
    writeCursor(requestId),
    // As the operator's list of all projects writes it.
    writeCursor(requestId, victim.projectId),
    // As the list of sessions writes it.
    writeCursor(requestId, requestId),
    writeCursor(webhookId),
    writeCursor(hashedId('finding', Date.now(), ['x'])),
    writeCursor(hashedId('score', Date.now(), ['x'])),
  ]
  const given: [string, string][] = [
    ['request_id', requestId],
    ['run_id', liveRunId(victim.projectId)],
    ['session_id', 'VICTIM-session'],
    ['subject', 'VICTIM-session'],
    ...cursors.map((cursor): [string, string] => ['cursor', cursor]),
  ]
  let found = 0
  for (const path of paths) {
    for (const [parameter, value] of given) {
      const answer = await api.call('GET', `${path}?${parameter}=${encodeURIComponent(value)}`, { key })
      const { items, data } = answer.json as { items?: unknown[]; data?: unknown[] }
      expect([path, parameter, [200, 404, 422].includes(answer.status)]).toEqual([path, parameter, true])
      if (answer.status !== 200) continue
      found++
      if (path !== '/api/erasures')
        expect([path, parameter, items ?? data ?? []]).toEqual([path, parameter, []])
      for (const secret of ['VICTIM', victim.projectId, requestId, webhookId])
        expect([path, parameter, answer.text.includes(secret)]).toEqual([path, parameter, false])
    }
  }
  // The export refuses all of them.
  expect(found).toBeGreaterThanOrEqual(10)
})

test('a list of the several projects that somebody sees has the calls of those alone', async () => {
  const seen = await api.createProject()
  const own = await seedRequest(api.pool, createSealer([]), { projectId: seen.projectId })
  await seedRequest(api.pool, createSealer([]), { projectId: attacker.projectId })
  const person = {
    ...{ personId: newId('person'), login: 'ana', name: 'Ana', loginId: newId('login'), address: null },
    ...{ role: 'analyst' as const, projectIds: [victim.projectId, seen.projectId] },
  }
  const databases = createProjectDatabases({
    pool: api.pool,
    operatorPool: api.pool,
    watch: (_text, run) => run(),
    countedDays: () => Promise.resolve(-Infinity),
  })
  const requests = createRequestStore(databases.ofAny({ kind: 'person', person }, undefined))
  const ofPage = (after: string | null) =>
    requests.list({ metadata: {} }, { ...{ limit: 1, offset: 0, page: 1, form: 'items' }, after }, Date.now())
  const { items, counted } = await ofPage(null)
  expect(items.map(({ id }) => id)).toEqual([own, requestId])
  expect(counted).toEqual({ total: 2, isExact: true })
  expect((await ofPage(own)).items.map(({ id }) => id)).toEqual([requestId])
})

test("a key changes nothing by another project's ids in bodies", async () => {
  const key = attacker.key
  const post = async (path: string, body: object) => (await api.call('POST', path, { key, body })).status
  expect(
    await post('/api/reviews', { request_id: requestId, scorer_name: 'pii_detection', agrees: true }),
  ).toBe(404)
  expect(await post('/internal/log', { project_id: victim.projectId, request_body: {} })).toBe(403)
  // Accepted, and carried out in the attacker's project alone, which has nothing of that name.
  expect(await post('/api/erasures', { scope: 'request', subject: requestId })).toBe(202)
  expect(await post('/api/erasures', { scope: 'session', subject: 'VICTIM-session' })).toBe(202)
  const { rows } = await api.pool.query(
    'select distinct project_id from erasures where subject = any($1::text[])',
    [[requestId, 'VICTIM-session']],
  )
  expect(rows).toEqual([{ project_id: idToUuid(attacker.projectId) }])
  expect((await api.pool.query('select from score_reviews')).rowCount).toBe(0)
  expect((await api.call('GET', `/api/requests/${requestId}`, { key: victim.key })).status).toBe(200)
})

test('a project with 10,000 erasures under way may ask for no other; others and the operator may', async () => {
  await api.pool.query(
    `insert into erasures (id, project_id, scope, subject, requested_by, requested_at, kept_in_kafka_until)
     select gen_random_uuid(), $1, 'user', n::text, 'key', now(), now() from generate_series(1, 10000) n`,
    [idToUuid(attacker.projectId)],
  )
  const erase = (key: string) =>
    api.call('POST', '/api/erasures', { key, body: { scope: 'user', subject: 'x' } })
  const refused = await erase(attacker.key)
  expect([refused.status, refused.json['code']]).toEqual([429, 'ERASURES_TOO_MANY'])
  const erased = await api.call('GET', '/api/erasures?status=erased', { key: attacker.key })
  expect(erased.json['total']).toBe(0)
  expect((await erase(victim.key)).status).toBe(202)
  const everything = await api.call('POST', `/api/erasures?project_id=${attacker.projectId}`, {
    operator: true,
    body: { scope: 'project' },
  })
  expect([everything.status, everything.json['requested_by']]).toEqual([202, 'operator'])
})

test('a project has a hundred open red-team runs at most, also of those that are ordered at once', async () => {
  const { projectId } = await api.createProject()
  await api.pool.query(
    `insert into redteam_runs (id, project_id, agent_name, target, options, seed, runner, status, created_at)
     select gen_random_uuid(), $1, 'x', '{}', '{}', 1, 'worker', 'queued', now() from generate_series(1, 98)`,
    [idToUuid(projectId)],
  )
  const body = { ...(bodyExamples['post /api/redteam-runs'] as object), project_id: projectId }
  // A request that waits two seconds for its turn gets 503.
  const order = async (): ReturnType<typeof api.call> => {
    const answer = await api.call('POST', '/api/redteam-runs', { operator: true, body })
    return answer.status === 503 ? order() : answer
  }
  const answers = await Promise.all(Array.from({ length: 8 }, order))
  const codes = answers.map(({ json, status }) => (status === 201 ? 201 : json['code']))
  expect(codes.filter((code) => code === 201)).toHaveLength(2)
  expect(codes.filter((code) => code === 'REDTEAM_RUNS_TOO_MANY')).toHaveLength(6)
})

test('while something is added to a project for long, its other changes are made, and what else is added is put off', async () => {
  const { projectId, key } = await api.createProject()
  const webhooks = (method: string, path = '', body?: object) =>
    api.call(method, `/api/v1/webhooks${path}`, { key, ...(body && { body }) })
  const added = bodyExamples['post /api/v1/webhooks'] as object
  const { json } = await webhooks('POST', '', added)
  const client = await api.pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [projectId])
    expect((await webhooks('PATCH', `/${String(json['id'])}`, { enabled: false })).status).toBe(200)
    const { status, json: refused } = await webhooks('POST', '', added)
    expect([status, refused['code']]).toEqual([503, 'STORAGE_UNAVAILABLE'])
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect((await webhooks('POST', '', added)).status).toBe(201)
})

test('anyone who sees several projects that have the same identifier is shown neither in place of the other', async () => {
  const projects = await Promise.all([0, 1].map(() => api.createProject()))
  const id = newId('request')
  const ids = projects.map(({ projectId }) => projectId)
  const [unsafe = ''] = ids
  const scores = [{ scorer: 'pii_detection', value: 5, label: 'unsafe', severity: 'high' }] as const
  for (const projectId of ids)
    await seedRequest(api.pool, createSealer([]), {
      projectId,
      id,
      ...(projectId === unsafe && { scores }),
    })
  const listed = await api.call('GET', '/api/requests?limit=2', { operator: true })
  const verdicts = (listed.json['data'] as { project_id: string; worst_label: string | null }[]).map(
    ({ project_id, worst_label }) => [project_id, worst_label],
  )
  expect(new Map(verdicts as [string, string | null][])).toEqual(
    new Map(ids.map((projectId) => [projectId, projectId === unsafe ? 'unsafe' : null])),
  )
  const byScorer = await api.call('GET', '/api/requests?scorer_name=pii_detection&label=unsafe', {
    operator: true,
  })
  expect(byScorer.json).toMatchObject({ total: 1, items: [{ project_id: unsafe }] })
  const analyst = await signInPerson(api, 'analyst', ids)
  const askers = [
    (path: string) => analyst.call('GET', path),
    (path: string) => api.call('GET', path, { operator: true }),
  ]
  for (const ask of askers) {
    const unnamed = await ask(`/api/requests/${id}`)
    expect([unnamed.status, unnamed.json['detail']]).toEqual([422, expect.stringMatching(/^project_id: /)])
    for (const project of ids) {
      const named = await ask(`/api/requests/${id}?project_id=${project}`)
      expect([named.status, named.json['project_id']]).toEqual([200, project])
    }
  }
})

test("anyone who sees several projects is not shown another's by an identifier, nor is it in the way of one's own", async () => {
  const made = await Promise.all([0, 1, 2].map(() => api.createProject()))
  const [mine = '', also = '', theirs = ''] = made.map(({ projectId }) => projectId)
  const [shared, foreign] = [newId('request'), newId('request')]
  for (const [projectId, id] of [
    [mine, shared],
    [theirs, shared],
    [theirs, foreign],
  ] as const)
    await seedRequest(api.pool, createSealer([]), { projectId, id })
  const analyst = await signInPerson(api, 'analyst', [mine, also])
  const own = await analyst.call('GET', `/api/requests/${shared}`)
  expect([own.status, own.json['project_id']]).toEqual([200, mine])
  const hidden = await analyst.call('GET', `/api/requests/${foreign}`)
  expect([hidden.status, hidden.json['code']]).toEqual([404, 'NOT_STORED_YET'])
})

test.each(['', '&label=safe', '&scorer_name=pii_detection', '&session_id=shared'])(
  'the operator sees each of the requests of several projects that have the same identifiers%s',
  async (filter) => {
    const model = `shared${filter}`
    const shared = [0, 1].map((index) => newId('request', Date.now() - 3_600_000 - index))
    const made: string[] = []
    for (const { projectId } of await Promise.all([0, 1, 2].map(() => api.createProject()))) {
      for (const id of shared) {
        const scores = [{ scorer: 'pii_detection', value: 1, label: 'safe' }] as const
        await seedRequest(api.pool, createSealer([]), { projectId, id, model, sessionId: 'shared', scores })
        made.push(`${projectId} ${id}`)
      }
    }
    const list = async (place: string) => {
      const query = `page_size=2&model=${encodeURIComponent(model)}${filter}${place}`
      const { json } = await api.call('GET', `/api/requests?${query}`, { operator: true })
      return json as { items: { id: string; project_id: string }[]; next_cursor: string | null }
    }
    const first = await list('')
    const byCursor = [first]
    for (let next = first.next_cursor; next !== null; next = byCursor.at(-1)?.next_cursor ?? null)
      byCursor.push(await list(`&cursor=${next}`))
    // The cursor's older form, without a project: after every request with the id.
    const [older = '', newer = ''] = shared.toSorted()
    const { items: behind } = await list(`&cursor=${writeCursor(newer)}`)
    expect(behind.map(({ id }) => id)).toEqual([older, older])
    const byNumber = [first, await list('&page=2'), await list('&page=3')]
    for (const pages of [byCursor, byNumber]) {
      const met = pages.flatMap(({ items }) => items.map((item) => `${item.project_id} ${item.id}`))
      expect(met.toSorted()).toEqual(made.toSorted())
    }
  },
)
