import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { bodyExamples } from './http/body-examples.ts'
import { seedDelivery } from '#tests/support/seed-delivery.ts'
import { seedFinding } from '#tests/support/store-failing-call.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { seedScorer } from '#tests/support/seed-scorer.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

interface Operation {
  parameters?: { name: string }[]
  description: string
  security: Record<string, string[]>[]
  requestBody?: object
  responses: Record<string, unknown>
}

interface Description {
  openapi: string
  paths: Record<string, Record<string, Operation>>
}

/** Valid bodies, so that only the caller's rights are in the way. */
const bodies: Record<string, unknown> = {
  ...bodyExamples,
  // Around the victim's failed delivery.
  'post /api/v1/webhooks/{id}/deliveries/replay': {
    start: new Date(Date.now() - 3_600_000).toISOString(),
    end: new Date(Date.now() + 3_600_000).toISOString(),
  },
  'post /api/projects': { name: 'x' },
  'patch /api/projects/{id}': { name: 'stolen' },
  'post /api/projects/{id}/keys': { name: 'x' },
  'post /api/erasures': { scope: 'session', subject: 'another' },
  'post /api/score-runs': { start: '2026-01-01', end: '2026-01-02' },
  'post /api/reviews': { request_id: newId('request'), scorer_name: 'pii_detection', agrees: true },
  'post /api/dead-letters/{id}/drop': { reason: 'x' },
  'post /api/dead-letters/redrive': { topic: 'llm.request.logged' },
  'post /api/dead-letters/drop': { topic: 'llm.request.logged', reason: 'x' },
  'post /internal/keys/resolve': { key_sha256: '0'.repeat(64) },
}

let api: RunningApi
let description: Description
let operations: { name: string; method: string; path: string; operation: Operation }[] = []
let victim: { projectId: string; key: string; keyId: string }
let attacker: { projectId: string; key: string; keyId: string }
let [requestId, webhookId, deliveryId, scorerId, previewId, alertRuleId] = ['', '', '', '', '', '']
let [erasureId, redteamRunId, suppressionId, destinationId, findingId, changeId] = ['', '', '', '', '', '']

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
  const make = async (path: string) =>
    String((await api.call('POST', path, { key: victim.key, body: bodies[`post ${path}`] })).json['id'])
  webhookId = await make('/api/v1/webhooks')
  deliveryId = await seedDelivery(api.pool, webhookId, victim.projectId)
  destinationId = await make('/api/v1/destinations')
  erasureId = await make('/api/erasures')
  ;({ findingId, changeId } = await seedFinding(api, victim))
  suppressionId = await make('/api/suppressions')
  alertRuleId = await make('/api/alert-rules')
  const attack = { agent_name: 'VICTIM-agent', target: { kind: 'chat', url: 'http://127.0.0.1:1' } }
  const ordered = await api.call('POST', '/api/redteam-runs', {
    operator: true,
    body: { project_id: victim.projectId, ...attack },
  })
  redteamRunId = String(ordered.json['id'])
  ;({ scorerId, previewId } = await seedScorer(api, victim.key, 'VICTIM-scorer'))
  description = (await api.call('GET', '/openapi.json')).json as unknown as Description
  operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      method,
      path,
      operation,
    })),
  )
})

afterAll(() => api.stop())

/** The victim's ids in the path. */
function victimPath(path: string): string {
  return path
    .replace('{id}', idInPath(path))
    .replace('{delivery_id}', deliveryId)
    .replace('{change_id}', changeId)
    .replace('{key_id}', victim.keyId)
    .replace('{login_id}', newId('login'))
}

function idInPath(path: string): string {
  if (path.startsWith('/api/projects')) return victim.projectId
  if (path.startsWith('/api/erasures')) return erasureId
  if (path.startsWith('/api/suppressions')) return suppressionId
  if (path.includes('destinations')) return destinationId
  if (path.startsWith('/api/findings')) return findingId
  if (path.startsWith('/api/alert-rules')) return alertRuleId
  if (path.startsWith('/api/people')) return newId('person')
  if (path.startsWith('/api/redteam-runs')) return redteamRunId
  if (path.startsWith('/api/sessions')) return 'VICTIM-session'
  if (path.includes('scorers')) return path.includes('previews') ? previewId : scorerId
  return path.startsWith('/api/requests') ? requestId : webhookId
}

const optionsFor = (name: string) => (bodies[name] === undefined ? {} : { body: bodies[name] })
const queriesOf = ({ parameters = [] }: Operation) =>
  parameters.some(({ name }) => name === 'include_redteam')
    ? ['', '?include_redteam=true', '?source=api']
    : ['']
const isPublic = ({ security }: Operation) => security.length === 0
const isOperatorOnly = ({ security }: Operation) =>
  security.length > 0 && security.every((scheme) => 'operator' in scheme)

describe('every route of /openapi.json', () => {
  test('asks for a key, but for the one that the payment provider signs', async () => {
    const open = operations.filter(({ operation }) => isPublic(operation)).map(({ name }) => name)
    expect(open).toEqual(['post /webhook/payment'])
    const answer = await api.call('POST', '/webhook/payment', { body: bodies['post /webhook/payment'] })
    expect([answer.status, answer.json['code']]).toEqual([503, 'PAYMENT_NOT_CONFIGURED'])
  })

  test('is known to this test', () => {
    expect(description.openapi).toBe('3.1.0')
    expect(operations.length).toBeGreaterThanOrEqual(22)
    for (const { name, operation } of operations) {
      if (operation.requestBody !== undefined && !/(rotate-secret|test)$/.test(name))
        expect(bodies).toHaveProperty([name])
    }
  })

  test('answers 401 without a key, with a wrong one, a revoked one and an expired one', async () => {
    const expired = await api.createProject()
    await api.pool.query(`update api_keys set expires_at = now() where id = $1`, [idToUuid(expired.keyId)])
    const revoked = await api.createProject()
    await api.call('DELETE', `/api/projects/${revoked.projectId}/keys/${revoked.keyId}`, { operator: true })
    for (const { name, method, path, operation } of operations) {
      if (isPublic(operation)) continue
      for (const key of [undefined, `svc_${'0'.repeat(48)}`, 'svc_', revoked.key, expired.key]) {
        const options = { ...optionsFor(name), ...(key !== undefined && { key }) }
        const answer = await api.call(method.toUpperCase(), victimPath(path), options)
        expect([name, answer.status]).toEqual([name, 401])
        expect(typeof answer.json['detail']).toBe('string')
      }
    }
  })

  test("gives another project's key nothing of it, and changes nothing", async () => {
    // With every filter by source.
    const asked = operations.flatMap((operation) =>
      queriesOf(operation.operation).map((query) => ({ ...operation, query })),
    )
    expect(asked.length).toBeGreaterThanOrEqual(operations.length + 16)
    for (const { name, method, path, operation, query } of asked) {
      const options = { ...optionsFor(name), key: attacker.key }
      const answer = await api.call(method.toUpperCase(), victimPath(path) + query, options)
      expect(answer.headers.get('cache-control')).toMatch(/^(no-store|private, no-cache)$/)
      if (isOperatorOnly(operation)) expect([name, answer.status]).toEqual([name, 403])
      else if (path.includes('{id}')) expect([name, answer.status]).toEqual([name, 404])
      // Only the requested id appears in the answer.
      expect(answer.text.replace('there is no session VICTIM-session', '')).not.toContain('VICTIM')
      for (const secret of [victim.projectId, requestId, webhookId, scorerId, previewId, findingId]) {
        if (!victimPath(path).includes(secret))
          expect([name, answer.text.includes(secret)]).toEqual([name, false])
      }
    }
    const project = await api.call('GET', `/api/projects/${victim.projectId}`, { operator: true })
    expect(project.json['name']).toBe('test')
    const webhook = await api.call('GET', `/api/v1/webhooks/${webhookId}`, { key: victim.key })
    expect([webhook.status, webhook.json['enabled']]).toEqual([200, true])
    expect((await api.call('GET', `/api/scorers/${scorerId}`, victim)).json).toMatchObject({ version: 1 })
    const { rows } = await api.pool.query<{ status: string }>('select status from webhook_deliveries')
    expect(rows).toEqual([{ status: 'failed' }])
  })

  test("refuses another project's id in the query with 403", async () => {
    for (const { name, method, path, operation } of operations) {
      // Records, spans and log records are of the key's project.
      if (isOperatorOnly(operation) || isPublic(operation) || /^\/internal|traces$|logs$/.test(path)) continue
      const target = `${victimPath(path)}?project_id=${victim.projectId}`
      const options = { ...optionsFor(name), key: attacker.key }
      const answer = await api.call(method.toUpperCase(), target, options)
      expect([name, answer.status, answer.json['code']]).toEqual([name, 403, 'OTHER_PROJECT'])
    }
  })

  test('refuses malformed identifiers with 422 that names them', async () => {
    for (const { name, method, path } of operations) {
      if (!path.includes('{')) continue
      const answer = await api.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "x'%00"), {
        ...optionsFor(name),
        operator: true,
      })
      expect([name, answer.status, answer.json['code']]).toEqual([name, 422, 'INVALID_INPUT'])
    }
  })
})

test('row-level security stands under every statement: where it shows nothing, the API finds nothing', async () => {
  const total = async () =>
    (await api.call('GET', '/api/requests', { key: victim.key })).json['total'] as number
  expect(await total()).toBe(2)
  await api.pool.query('alter policy own_project on llm_requests using (false)')
  expect(await total()).toBe(0)
  await api.pool.query(
    `alter policy own_project on llm_requests using (project_id = nullif(current_setting('sluice.project', true), '')::uuid)`,
  )
  expect(await total()).toBe(2)
})

test('the scope of a key decides what it may do, on every route', async () => {
  const make = async (scope: string) => {
    const body = { name: scope, scope, label: 'test' }
    const made = await api.call('POST', `/api/projects/${attacker.projectId}/keys`, { operator: true, body })
    expect(made.json['key']).toMatch(/^svc_test_[0-9a-f]{48}$/)
    return String(made.json['key'])
  }
  const keys = { ingest: await make('ingest'), read: await make('read') }
  const wantedBy = new Set<string>()
  for (const { name, method, path, operation } of operations) {
    if (isPublic(operation) || isOperatorOnly(operation)) continue
    const wanted = /Needs a key of scope `(\w+)`/.exec(operation.description)?.[1] ?? ''
    wantedBy.add(wanted)
    for (const [scope, key] of Object.entries(keys)) {
      const answer = await api.call(method.toUpperCase(), victimPath(path), { ...optionsFor(name), key })
      const refused = answer.status === 403 && answer.json['code'] === 'KEY_SCOPE'
      expect([name, scope, refused]).toEqual([name, scope, scope !== wanted])
    }
  }
  expect([...wantedBy].sort()).toEqual(['all', 'ingest', 'read'])
})

test('an identical request id of another project is another record', async () => {
  await seedRequest(api.pool, createSealer([]), {
    projectId: attacker.projectId,
    id: requestId,
    model: 'own',
  })
  const own = await api.call('GET', `/api/requests/${requestId}`, { key: attacker.key })
  expect([own.json['model'], own.json['project_id']]).toEqual(['own', attacker.projectId])
  expect(newId('request')).not.toBe(requestId)
})

test('a key may erase of its project what it names, the whole project only the operator; each sees its own erasures', async () => {
  const post = (body: object, key?: string) =>
    key === undefined
      ? api.call('POST', `/api/erasures?project_id=${victim.projectId}`, { operator: true, body })
      : api.call('POST', '/api/erasures', { key, body })
  expect((await post({ scope: 'project' }, victim.key)).json).toMatchObject({ code: 'OPERATOR_ONLY' })
  for (const body of [
    { scope: 'request', subject: 'x' },
    { scope: 'user' },
    { scope: 'project', subject: 'x' },
  ]) {
    expect((await post(body)).json).toMatchObject({ code: 'INVALID_INPUT', errors: [{ path: 'subject' }] })
  }
  const asked = await post({ scope: 'request', subject: requestId }, victim.key)
  expect([asked.status, asked.json['subject'], asked.json['status']]).toEqual([202, requestId, 'erasing'])
  expect((await post({ scope: 'project' })).json).toMatchObject({ subject: null, requested_by: 'operator' })
  const list = (key: string, query = '') => api.call('GET', `/api/erasures${query}`, { key })
  expect(new Set((await list(victim.key)).text.match(/prj_\w+/g))).toEqual(new Set([victim.projectId]))
  expect((await list(attacker.key)).text).not.toContain(victim.projectId)
  // Their times differ from those in their ids.
  await api.pool.query(`update erasures set requested_at = requested_at + interval '1 minute'`)
  const first = (await list(victim.key, '?page_size=1')).json['next_cursor']
  expect((await list(victim.key, `?cursor=${String(first)}`)).json['items']).toHaveLength(2)
})
