import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { until } from '#tests/support/until.ts'

let api: RunningApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const operator = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { operator: true, ...(body === undefined ? {} : { body }) })

describe('projects', () => {
  test('are created with defaults, read, listed and changed by the operator', async () => {
    const made = await operator('POST', '/api/projects', { name: 'Support bots' })
    expect(made.status).toBe(201)
    expect(made.json).toMatchObject({
      name: 'Support bots',
      tier: 'enterprise',
      zero_content_retention: false,
      sampling: {},
      metadata_keys: [],
    })
    const path = `/api/projects/${String(made.json['id'])}`
    const other = await operator('POST', '/api/projects', { name: 'Another' })
    expect((await operator('GET', path)).json).toEqual(made.json)
    const changed = await operator('PATCH', path, {
      tier: 'pro',
      retention_days: 7,
      cost_alert_usd: 12.5,
      sampling: { hallucination: 0.1 },
      metadata_keys: ['env', 'team'],
    })
    expect(changed.json).toEqual({
      ...made.json,
      tier: 'pro',
      retention_days: 7,
      cost_alert_usd: 12.5,
      sampling: { hallucination: 0.1 },
      metadata_keys: ['env', 'team'],
    })
    const list = await operator('GET', '/api/projects?page_size=2')
    expect(list.json).toMatchObject({ page: 1, page_size: 2, items: [other.json, changed.json] })
    expect((await operator('GET', `/api/projects/${newId('project')}`)).status).toBe(404)
  })

  test('can mask only where there is a key for placeholders', async () => {
    const made = await operator('POST', '/api/projects', { name: 'masks not', mask: false })
    for (const [method, path] of [
      ['POST', '/api/projects'],
      ['PATCH', `/api/projects/${String(made.json['id'])}`],
    ] as const) {
      const { status, json } = await operator(method, path, { name: 'masks', mask: true })
      expect([status, json['code']]).toEqual([409, 'MASKING_NEEDS_KEY'])
    }
  })

  test.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x', tier: 'gold' }, 'tier'],
    [{ name: 'x', retention_days: 91 }, 'retention_days'],
    [{ name: 'x', cost_alert_usd: -1 }, 'cost_alert_usd'],
    [{ name: 'x', teir: 'free' }, 'teir'],
  ])('refuse %j', async (body, path) => {
    const { status, json } = await operator('POST', '/api/projects', body)
    expect([status, (json['errors'] as { path: string }[]).map((error) => error.path)]).toEqual([422, [path]])
  })

  test.each([
    [{ tier: 'pro' }, '001'],
    [{ quota_warning_percent: 90 }, '101'],
    [{ cost_alert_usd: 20 }, '110'],
    [{ tier: 'free', quota_warning_percent: 80, cost_alert_usd: 10, name: 'Another' }, '111'],
  ])('changed to %j are told the limits that it moves, again', async (changes, left) => {
    const named = { name: 'x', tier: 'free', quota_warning_percent: 80, cost_alert_usd: 10 }
    const { json } = await operator('POST', '/api/projects', named)
    const uuid = idToUuid(String(json['id']))
    await api.pool.query(
      'update subscriptions set quota_alerted = true, warning_alerted = true, cost_alerted = true where project_id = $1',
      [uuid],
    )
    await operator('PATCH', `/api/projects/${String(json['id'])}`, changes)
    const { rows } = await api.pool.query<{ told: string }>(
      'select concat(quota_alerted::int, warning_alerted::int, cost_alerted::int) as told from subscriptions where project_id = $1',
      [uuid],
    )
    expect(rows).toEqual([{ told: left }])
  })

  test('count a change of tier at once', async () => {
    await api.pool.query(`update tiers set request_limit = 0 where tier = 'free'`)
    const { projectId, key } = await api.createProject()
    const log = async () =>
      (await api.call('POST', '/internal/log', { key, body: { request_body: {} } })).status
    expect(await log()).toBe(202)
    await operator('PATCH', `/api/projects/${projectId}`, { tier: 'free' })
    await until(async () => (await log()) === 429)
  })
})

describe('keys', () => {
  test('are shown once, stored as a hash, listed without their secret', async () => {
    const { projectId } = await api.createProject()
    const made = await operator('POST', `/api/projects/${projectId}/keys`, { name: 'CI' })
    const key = String(made.json['key'])
    expect([made.status, made.json['last4']]).toEqual([201, key.slice(-4)])
    expect(key).toMatch(/^svc_[0-9a-f]{48}$/)
    const list = await operator('GET', `/api/projects/${projectId}/keys`)
    expect(list.text).not.toContain(key.slice(4))
    expect(list.json).toMatchObject({ total: 2, page: 1, page_size: 50, next_cursor: null })
    const second = (await operator('GET', `/api/projects/${projectId}/keys?page=2&page_size=1`)).json
    expect([second['total'], (second['items'] as object[]).length]).toEqual([2, 1])
    const { rows } = await api.pool.query('select * from api_keys where id = $1', [
      idToUuid(String(made.json['id'])),
    ])
    expect(JSON.stringify(rows)).not.toContain(key.slice(4))
  })

  test('are resolved by their hash, for gateways', async () => {
    const { projectId, key, keyId } = await api.createProject({ zero_content_retention: true })
    const hash = createHash('sha256').update(key.slice(-48)).digest('hex')
    const { json } = await operator('POST', '/internal/keys/resolve', { key_sha256: hash })
    expect(json).toEqual({
      key_id: keyId,
      project_id: projectId,
      scope: 'all',
      tier: 'enterprise',
      zero_content_retention: true,
      expires_at: null,
      ...{ user: null, team: null, models: null, capture: 'full' },
      ...{ rate_limit_per_minute: null, monthly_budget_usd: null, when_unknown: 'stop' },
    })
    const unknown = await operator('POST', '/internal/keys/resolve', { key_sha256: '0'.repeat(64) })
    expect([unknown.status, unknown.json['code']]).toEqual([404, 'KEY_UNKNOWN'])
  })

  test('are announced to every process when they are revoked or their project is changed', async () => {
    const [changed, revoked] = [await api.createProject(), await api.createProject()]
    const client = await api.pool.connect()
    const heard: unknown[] = []
    client.on('notification', ({ payload }) => heard.push(payload))
    try {
      await client.query('listen sluice_access')
      await operator('PATCH', `/api/projects/${changed.projectId}`, { zero_content_retention: true })
      await until(() => Promise.resolve(heard.includes(changed.projectId)))
      const path = `/api/projects/${revoked.projectId}/keys/${revoked.keyId}`
      expect((await operator('DELETE', path)).status).toBe(204)
      await until(() => Promise.resolve(heard.includes(revoked.projectId)))
    } finally {
      client.release(true)
    }
  })

  test('that are revoked by another process stop working at once', async () => {
    const { projectId, key, keyId } = await api.createProject()
    const status = async () => (await api.call('GET', '/api/requests', { key })).status
    expect(await status()).toBe(200)
    await api.pool.query('update api_keys set revoked_at = now() where id = $1', [idToUuid(keyId)])
    expect(await status()).toBe(200)
    await api.pool.query(`select pg_notify('sluice_access', $1)`, [projectId])
    await until(async () => (await status()) === 401)
  })

  test('are checked at every use while changes cannot be heard of', async () => {
    const { key, keyId } = await api.createProject()
    const status = async () => (await api.call('GET', '/api/requests', { key })).status
    expect(await status()).toBe(200)
    await api.pool.query('update api_keys set revoked_at = now() where id = $1', [idToUuid(keyId)])
    await api.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query in ('listen sluice_access', 'select 1')`,
    )
    await until(async () => (await status()) === 401)
  })

  test('expire', async () => {
    const { projectId } = await api.createProject()
    const past = await operator('POST', `/api/projects/${projectId}/keys`, {
      name: 'x',
      expires_at: '2020-01-01T00:00:00Z',
    })
    expect([past.status, past.json['detail']]).toEqual([422, 'expires_at: must be in the future'])
    const nowMs = Date.now()
    const clock = jest.spyOn(Date, 'now').mockReturnValue(nowMs)
    try {
      const body = { name: 'x', expires_at: new Date(nowMs + 300).toISOString() }
      const made = await operator('POST', `/api/projects/${projectId}/keys`, body)
      const answer = async () => api.call('GET', '/api/requests', { key: String(made.json['key']) })
      const listed = async () => (await operator('GET', `/api/projects/${projectId}/keys`)).json['items']
      expect((await answer()).status).toBe(200)
      expect(await listed()).toMatchObject([{ expired: false }, { expired: false }])
      clock.mockReturnValue(nowMs + 300)
      expect(await listed()).toMatchObject([{ id: made.json['id'], expired: true }, { expired: false }])
      expect((await answer()).json['code']).toBe('KEY_EXPIRED')
      const hash = createHash('sha256').update(String(made.json['key']).slice(-48)).digest('hex')
      expect((await operator('POST', '/internal/keys/resolve', { key_sha256: hash })).status).toBe(404)
    } finally {
      jest.restoreAllMocks()
    }
  })

  test('of an unknown project or unknown ones are 404', async () => {
    const { projectId } = await api.createProject()
    expect((await operator('POST', `/api/projects/${newId('project')}/keys`, { name: 'x' })).status).toBe(404)
    expect((await operator('DELETE', `/api/projects/${projectId}/keys/${newId('key')}`)).status).toBe(404)
  })

  test('are revoked once, by their project alone', async () => {
    const [own, other] = [await api.createProject(), await api.createProject()]
    const revoke = async (projectId: string) =>
      (await operator('DELETE', `/api/projects/${projectId}/keys/${own.keyId}`)).status
    const total = async () => (await operator('GET', `/api/projects/${own.projectId}/keys`)).json['total']
    expect([await revoke(other.projectId), await total()]).toEqual([404, 1])
    expect([await revoke(own.projectId), await total(), await revoke(own.projectId)]).toEqual([204, 0, 404])
  })
})

describe('the application', () => {
  test('answers what it does not know in JSON', async () => {
    const nothing = await api.call('GET', '/api/nothing')
    expect([nothing.status, nothing.json['code']]).toEqual([404, 'ROUTE_NOT_FOUND'])
    const method = await api.call('DELETE', '/internal/log')
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'POST'])
    for (const path of ['/api/requests', '/openapi.json', '/docs']) {
      const { status, headers } = await api.call('POST', path)
      expect([path, status, headers.get('allow')]).toEqual([path, 405, 'GET, HEAD'])
    }
    expect((await api.call('GET', '/api/requests/%ff')).status).toBe(400)
  })

  test('is ready, and its documentation needs nothing from elsewhere', async () => {
    await until(async () => (await api.call('GET', '/readyz')).json['status'] === 'ok')
    expect((await api.call('GET', '/healthz')).status).toBe(200)
    const page = await api.call('GET', '/docs')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(page.text).not.toMatch(/https?:/)
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, source]) => new URL(String(source), `${api.baseUrl}/docs`).pathname,
    )
    for (const source of sources)
      expect([source, (await api.call('GET', source)).status]).toEqual([source, 200])
  })
})
