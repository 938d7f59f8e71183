import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { newId, type IdKind } from '#schemas/ids.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { signInPerson, type TestPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { bodyExamples } from './http/body-examples.ts'

let api: RunningApi
let own: { projectId: string; key: string }
let other: { projectId: string; key: string }
let requestId: string
let foreignId: string
let foreignRun: string
let routes: { name: string; method: string; path: string }[]
const people = {} as Record<'viewer' | 'analyst' | 'admin', TestPerson>

beforeAll(async () => {
  api = await startApi()
  own = await api.createProject()
  other = await api.createProject()
  const score = { scorer: 'pii_detection', value: 1, label: 'safe' } as const
  const seed = (projectId: string) =>
    seedRequest(api.pool, createSealer([]), {
      projectId,
      requestBody: '{"messages":[{"role":"user","content":"SAID"}]}',
      sessionId: 'ticket',
      scores: [score],
    })
  requestId = await seed(own.projectId)
  foreignId = await seed(other.projectId)
  const target = { kind: 'chat', url: 'http://127.0.0.1:1' }
  const order = { project_id: other.projectId, agent_name: 'agent', target }
  foreignRun = String(
    (await api.call('POST', '/api/redteam-runs', { operator: true, body: order })).json['id'],
  )
  for (const role of ['viewer', 'analyst', 'admin'] as const) {
    people[role] = await signInPerson(api, role, [own.projectId])
  }
  const { paths } = (await api.call('GET', '/openapi.json')).json as { paths: Record<string, object> }
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ name: `${method} ${path}`, method, path })),
  )
})
afterAll(() => api.stop())

/** Below administrator. All else is for administrators or nobody. */
const viewersRoutes =
  /^(get \/api\/(me|me\/logins|me\/views|requests|requests\/facets|requests\/\{id\}|safety-scores|safety-scores\/summary|stats|costs|costs\/export|users|status|status\/projects|tools|sessions|sessions\/\{id\}|reviews|reviews\/agreement|billing\/subscription|billing\/judge-spend|scorers|scorers\/calibration|suppressions|suppressions\/\{id\}|findings|findings\/facets|findings\/\{id\}|alert-rules|alert-rules\/\{id\}|metadata-keys|redteam-runs|redteam-runs\/\{id\}|redteam-runs\/\{id\}\/(attempts|diff))|post \/api\/me\/(password|sign-out|views)|delete \/api\/me\/(logins\/\{login_id\}|views\/\{id\}))$/
const analystsRoutes =
  /^(get \/api\/(requests\/export|findings\/owners|requests\/\{id\}\/deliveries|reviews\/export|erasures|erasures\/\{id\}|redteam-runs\/\{id\}\/report|scorers\/.*)|post \/api\/(requests\/search|reviews|scorers|scorers\/previews|suppressions.*|findings.*|alert-rules.*)|(patch|delete) \/api\/(scorers|findings|alert-rules)\/.*)$/

function minRole(name: string): 'viewer' | 'analyst' | 'admin' | 'nobody' {
  if (/ \/(internal|webhook)\/|\/v1\/(traces|logs)$/.test(name)) return 'nobody'
  if (viewersRoutes.test(name)) return 'viewer'
  return analystsRoutes.test(name) ? 'analyst' : 'admin'
}

// prettier-ignore
const kinds: [RegExp, IdKind][] = [
  [/^\/api\/requests/, 'request'],
  [/^\/api\/v1\/(webhooks|destinations)/, 'webhook'],
  [/^\/api\/suppressions/, 'suppression'],
  [/^\/api\/findings/, 'finding'],
  [/^\/api\/alert-rules/, 'alertRule'],
  [/^\/api\/projects/, 'project'],
  [/^\/api\/erasures/, 'erasure'],   [/^\/api\/(score|redteam)-runs/, 'run'],
  [/^\/api\/dead-letters/, 'deadLetter'],
  [/^\/api\/people/, 'person'],
  [/^\/api\/scorers\/previews/, 'scorerPreview'], [/^\/api\/scorers/, 'projectScorer'],
]

/** Ids that do not exist, so that no request changes anything. */
function pathOfNothing(path: string): string {
  const kind = kinds.find(([start]) => start.test(path))?.[1] ?? 'request'
  return path
    .replace('{id}', newId(kind))
    .replace(/\{(key|delivery|login)_id\}/, (_all, name: 'key' | 'delivery' | 'login') => newId(name))
    .replace('{change_id}', newId('findingChange'))
}

const optionsFor = (name: string) => (bodyExamples[name] === undefined ? {} : { body: bodyExamples[name] })

describe('every route of /openapi.json', () => {
  test('is open to the roles that may use it, and to no other', async () => {
    const ranks = ['viewer', 'analyst', 'admin'] as const
    for (const role of ranks) {
      for (const { name, method, path } of routes) {
        if (name === 'post /api/me/sign-out' || name === 'post /webhook/payment') continue
        const answer = await people[role].call(method.toUpperCase(), pathOfNothing(path), optionsFor(name))
        const least = minRole(name)
        const isOpen = least !== 'nobody' && ranks.indexOf(role) >= ranks.indexOf(least)
        const refused = answer.status === 403 && answer.json['code'] === 'ROLE_FORBIDS'
        expect([role, name, refused, answer.status === 401]).toEqual([role, name, !isOpen, false])
      }
    }
  })

  test("shows nobody a project that is not theirs, in the query or by another's identifiers", async () => {
    for (const role of ['viewer', 'analyst'] as const) {
      for (const { name, method, path } of routes) {
        const least = minRole(name)
        if (least === 'nobody' || least === 'admin' || path.startsWith('/api/me')) continue
        if (role === 'viewer' && least !== 'viewer') continue
        const isCall = path.startsWith('/api/requests')
        const target = isCall ? path.replace('{id}', foreignId) : pathOfNothing(path)
        const call = (query: string) =>
          people[role].call(method.toUpperCase(), target + query, optionsFor(name))
        const named = await call(`?project_id=${other.projectId}`)
        expect([role, name, named.status, named.json['code']]).toEqual([role, name, 403, 'OTHER_PROJECT'])
        const unnamed = await call('')
        expect([role, name, unnamed.text.includes(other.projectId)]).toEqual([role, name, false])
        if (path.includes('{id}')) expect([role, name, unnamed.status]).toEqual([role, name, 404])
      }
    }
  })
})

describe('a person', () => {
  test('is nobody without the secret, and their token is nothing to keys', async () => {
    const headers = { 'x-sluice-login': people.admin.token }
    expect((await api.call('GET', '/api/me', { headers })).status).toBe(401)
    const byKey = await api.call('GET', '/api/requests', { headers, key: own.key })
    expect([byKey.status, byKey.json['code']]).toEqual([403, 'OPERATOR_ONLY'])
    const made = await api.call('GET', '/api/me', {
      operator: true,
      headers: { 'x-sluice-login': 'A'.repeat(43) },
    })
    expect([made.status, made.json['code']]).toEqual([401, 'LOGIN_ENDED'])
  })

  test('who sees one project need not name it, who sees several must, who sees none is told so', async () => {
    const one = await people.viewer.call('GET', '/api/requests')
    expect(one.json['total']).toBe(1)
    const several = await signInPerson(api, 'viewer', [own.projectId, other.projectId])
    const reader = await signInPerson(api, 'analyst', [own.projectId, other.projectId])
    const answer = await several.call('GET', '/api/requests')
    expect([answer.status, answer.json['detail']]).toEqual([
      422,
      'project_id: is required when you see several projects',
    ])
    expect((await several.call('GET', `/api/requests?project_id=${other.projectId}`)).status).toBe(200)
    // A link to a request names no project.
    for (const id of [requestId, foreignId]) {
      expect((await several.call('GET', `/api/requests/${id}`)).json['id']).toBe(id)
    }
    expect((await several.call('GET', `/api/requests/${newId('request', 0)}`)).status).toBe(404)
    // A link to a run neither.
    for (const path of ['', '/attempts', '/diff', '/report']) {
      const seen = await reader.call('GET', `/api/redteam-runs/${foreignRun}${path}`)
      expect([path, seen.status]).toEqual([path, 200])
      const missing = await reader.call('GET', `/api/redteam-runs/${newId('run', 0)}${path}`)
      expect([path, missing.status]).toEqual([path, 404])
    }
    const none = await (await signInPerson(api, 'analyst')).call('GET', '/api/requests')
    expect([none.status, none.json['code']]).toEqual([403, 'NO_PROJECT'])
    expect((await people.admin.call('GET', '/api/requests')).json['total']).toBe(2)
  })

  /** Of the body and of the rationale. */
  const content = /SAID|because of/

  test('who is a viewer sees verdicts and nothing of what was said', async () => {
    await api.pool.query(`update llm_requests set error = 'ToolError: cannot do what was SAID'`)
    const withCalls = ['/api/requests', `/api/requests/${requestId}`, '/api/sessions/ticket']
    for (const path of [...withCalls, '/api/safety-scores']) {
      const seen = await people.viewer.call('GET', path)
      expect([path, seen.status, content.test(seen.text)]).toEqual([path, 200, false])
      if (withCalls.includes(path)) expect(seen.text).toContain('"error":"ToolError"')
      if (path !== '/api/requests') expect(seen.text).toContain('pii_detection')
      // The tag depends on the rights: a user who may read bodies from now on gets no 304.
      const etag = seen.headers.get('etag')
      const read = await people.analyst.call('GET', path, {
        headers: etag === null ? {} : { 'if-none-match': etag },
      })
      expect([path, read.status, content.test(read.text)]).toEqual([path, 200, true])
    }
    const detail = await people.viewer.call('GET', `/api/requests/${requestId}`)
    expect(detail.json).toMatchObject({ bodies_withheld: true, request_body: null })
  })

  test('reviews as themselves, and nobody in their place', async () => {
    const verdict = { request_id: requestId, scorer_name: 'pii_detection', agrees: true }
    const body = { ...verdict, reviewer: 'somebody else', reason: 'it was SAID' }
    const review = await people.analyst.call('POST', '/api/reviews', { body })
    expect([review.status, review.json['reviewer']]).toEqual([201, people.analyst.login])
    const feigned = { ...body, agrees: false, reviewer: people.analyst.login }
    expect((await api.call('POST', '/api/reviews', { key: own.key, body: feigned })).status).toBe(201)
    const { json } = await people.analyst.call('GET', `/api/reviews?request_id=${requestId}`)
    const [given, reason] = [review.json, body.reason]
    expect(json['items']).toMatchObject([{ agrees: false }, { id: given['id'], agrees: true, reason }])
    const seen = await people.viewer.call('GET', `/api/reviews?request_id=${requestId}`)
    expect([seen.json['total'], content.test(seen.text)]).toEqual([2, false])
  })

  test('cannot take the last administrator away, nor leave one who has no way in', async () => {
    const waiting = { login: 'waiting', name: 'Waiting', role: 'admin', password: null }
    await api.call('POST', '/api/people', { operator: true, body: waiting })
    for (const body of [{ role: 'analyst' }, { disabled: true }]) {
      const answer = await people.admin.call('PATCH', `/api/people/${people.admin.id}`, { body })
      expect([answer.status, answer.json['code']]).toEqual([409, 'LAST_ADMINISTRATOR'])
    }
  })
})

describe('the audit log', () => {
  const entries = async (query: string) =>
    (await people.admin.call('GET', `/api/audit?${query}`)).json['items'] as Record<string, unknown>[]

  test('says who changed what, without secrets', async () => {
    const query = `?project_id=${own.projectId}`
    const webhook = { url: 'https://hooks.example.com/SECRET', events: ['threat_detected'] }
    const made = await people.admin.call('POST', `/api/v1/webhooks${query}`, { body: webhook })
    const id = String(made.json['id'])
    await people.admin.call('PATCH', `/api/v1/webhooks/${id}${query}`, { body: { enabled: false } })
    await people.admin.call('POST', `/api/v1/webhooks/${id}/rotate-secret${query}`)
    await people.admin.call('DELETE', `/api/v1/webhooks/${id}${query}`)
    const ofWebhook = await entries(`subject=${id}`)
    expect(ofWebhook.map(({ action }) => action)).toEqual([
      'webhook.deleted',
      'webhook.secret_rotated',
      'webhook.changed',
      'webhook.created',
    ])
    for (const entry of ofWebhook) {
      expect(entry).toMatchObject({
        actor_kind: 'person',
        actor_id: people.admin.id,
        actor_name: people.admin.login,
        address: '203.0.113.7',
        project_id: own.projectId,
      })
    }
    expect(JSON.stringify(ofWebhook)).not.toContain('SECRET')

    const path = `/api/projects/${own.projectId}`
    await people.admin.call('PATCH', path, { body: { retention_days: 7 } })
    const key = await people.admin.call('POST', `${path}/keys`, { body: { name: 'CI' } })
    await people.admin.call('DELETE', `${path}/keys/${String(key.json['id'])}`)
    const ofProject = await entries(`project_id=${own.projectId}&person_id=${people.admin.id}&page_size=3`)
    expect(ofProject.map(({ action, detail }) => [action, detail])).toEqual([
      ['key.revoked', null],
      ['key.created', { name: 'CI', label: null, scope: 'all' }],
      ['project.changed', { retention_days: 7, before: { retention_days: null } }],
    ])
    expect(
      (await entries('action=person.')).every(({ action }) => String(action).startsWith('person.')),
    ).toBe(true)
  })

  test('says who was shown what was said, once in a while, and nothing of who was not', async () => {
    const reader = await signInPerson(api, 'analyst', [own.projectId])
    const blind = await signInPerson(api, 'viewer', [own.projectId])
    for (const person of [reader, reader, blind]) await person.call('GET', `/api/requests/${requestId}`)
    const viewed = await entries(`subject=${requestId}&action=request.content_viewed`)
    const count = (id: string) => viewed.filter(({ actor_id }) => actor_id === id).length
    expect([count(reader.id), count(blind.id)]).toEqual([1, 0])
  })

  test('and the change are written together or not at all, and nothing is shown that cannot be written down', async () => {
    await api.pool.query(
      `alter table audit_log add constraint full_disk check (action not in ('webhook.created', 'key.created', 'request.content_viewed')) not valid`,
    )
    const body = { url: 'https://hooks.example.com/', events: ['threat_detected'] }
    const query = `?project_id=${own.projectId}`
    expect((await people.admin.call('POST', `/api/v1/webhooks${query}`, { body })).status).toBe(500)
    expect((await people.admin.call('GET', `/api/v1/webhooks${query}`)).json['total']).toBe(0)
    const keys = `/api/projects/${other.projectId}/keys`
    expect((await people.admin.call('POST', keys, { body: { name: 'x' } })).status).toBe(500)
    expect((await people.admin.call('GET', keys)).json['total']).toBe(1)
    const reader = await signInPerson(api, 'analyst', [own.projectId])
    const shown = await reader.call('GET', `/api/requests/${requestId}`)
    expect([shown.status, shown.text.includes('SAID')]).toEqual([500, false])
    await api.pool.query('alter table audit_log drop constraint full_disk')
    expect((await reader.call('GET', `/api/requests/${requestId}`)).text).toContain('SAID')
  })
})
