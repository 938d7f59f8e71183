import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

const key32 = Buffer.alloc(32, 7)
const sealer = createSealer([{ id: 'k1', key: key32 }])
let api: RunningApi
let project: { projectId: string; key: string }
const url = 'https://receiver.example.com/hook'

beforeAll(async () => {
  api = await startApi({
    BODY_ENCRYPTION_KEYS: `k1:${key32.toString('base64')}`,
    WEBHOOK_ALLOW_INSECURE: 'localhost,10.0.0.7',
  })
  project = await api.createProject()
})
afterAll(() => api.stop())

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/api/v1/webhooks${path}`, { key: project.key, ...(body === undefined ? {} : { body }) })
const create = (body: object = {}) => call('POST', '', { url, events: ['threat_detected'], ...body })

async function storedSecret(id: string, column = 'secret'): Promise<string> {
  const { rows } = await api.pool.query<{ codec: string; key_id: string; data: Buffer }>(
    `select ${column}_codec as codec, ${column}_key_id as key_id, ${column}_data as data from webhooks where id = $1`,
    [idToUuid(id)],
  )
  const sealed = rows[0] ?? { codec: '', key_id: null, data: Buffer.alloc(0) }
  return sealer.open(sealed, sealedIdentity(project.projectId, id, 'webhook_secret')).toString()
}

describe('webhooks', () => {
  test('are created with a secret that is shown once and sealed', async () => {
    const { status, json } = await create({
      filters: { severity: ['critical'], scorer_name: ['pii_detection'] },
      filter_expression: 'data.severity == "critical" && data.owasp_category in ["LLM01", "LLM02"]',
    })
    expect(status).toBe(201)
    const { secret, ...webhook } = json
    expect(webhook).toMatchObject({
      project_id: project.projectId,
      url,
      events: ['threat_detected'],
      enabled: true,
    })
    expect(String(secret)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const id = String(json['id'])
    expect(await storedSecret(id)).toBe(secret)
    expect((await call('GET', `/${id}`)).json).toEqual(webhook)
    expect((await call('GET', '')).text).not.toContain('whsec_')
  })

  test('an expression is tried on the events that were raised, as the notifier would see them', async () => {
    const raise = (severity: string, content: object | null) => {
      const id = newId('event')
      const sealed =
        content === null
          ? null
          : sealer.seal(
              Buffer.from(JSON.stringify(content)),
              sealedIdentity(project.projectId, id, 'event_content'),
            )
      return api.pool.query(
        `insert into event_outbox (id, event, project_id, created_at, data, content_codec, content_key_id, content_data)
         values ($1, 'threat_detected', $2, now(), $3, $4, $5, $6)`,
        [
          idToUuid(id),
          idToUuid(project.projectId),
          Buffer.from(JSON.stringify({ severity, scorer_name: 'jailbreak_detection' })),
          sealed?.codec,
          sealed?.key_id,
          sealed?.data,
        ],
      )
    }
    await raise('high', null)
    await raise('critical', { prompt_snippet: 'ignore all rules' })
    const attempt = async (filter_expression: string, key = project.key) =>
      (await api.call('POST', '/api/v1/webhooks/try', { key, body: { filter_expression } })).json
    expect(await attempt('data.prompt_snippet.contains("ignore")')).toMatchObject({
      error: null,
      tried: [
        { severity: 'critical', outcome: 'passes', message: null },
        // Without content the quotes of a threat are empty, as its receivers get them.
        { severity: 'high', outcome: 'held_back', message: null },
      ],
    })
    expect(await attempt('data.owasp_category.contains("01")')).toMatchObject({
      tried: [{ outcome: 'failed', message: expect.any(String) }, { outcome: 'failed' }],
    })
    expect(await attempt('data.severity == "high"')).toMatchObject({
      tried: [{ outcome: 'held_back' }, { scorer_name: 'jailbreak_detection', outcome: 'passes' }],
    })
    expect(await attempt('data.severity ==')).toMatchObject({
      error: expect.stringContaining('line 1'),
      tried: [],
    })
    const other = await api.createProject()
    expect(await attempt('true', other.key)).toEqual({ error: null, tried: [] })
  })

  test('are changed in part, rotated and deleted', async () => {
    const made = await create({
      filters: { severity: ['high'] },
      filter_expression: 'event == "threat_detected"',
    })
    const { secret, ...webhook } = made.json
    const id = String(made.json['id'])
    await api.pool.query(
      "update webhooks set expression_failure = 'no such overload', expression_failed_at = now() where id = $1",
      [idToUuid(id)],
    )
    const shown = (await call('GET', `/${id}`)).json['filter_expression_error']
    expect(shown).toMatchObject({ message: 'no such overload' })
    const changed = await call('PATCH', `/${id}`, { enabled: false, filter_expression: null })
    expect(changed.json).toEqual({ ...webhook, enabled: false, filter_expression: null })
    const rotated = await call('POST', `/${id}/rotate-secret`, { overlap_seconds: 60 })
    expect(rotated.status).toBe(200)
    expect(await storedSecret(id)).toBe(rotated.json['secret'])
    expect(await storedSecret(id, 'previous_secret')).toBe(secret)
    expect((await call('POST', `/${id}/rotate-secret`)).status).toBe(200)
    expect((await call('DELETE', `/${id}`)).status).toBe(204)
    expect((await call('GET', `/${id}`)).status).toBe(404)
    expect((await call('DELETE', `/${id}`)).status).toBe(404)
  })

  test('show why they were disabled, until their owner enables or disables them', async () => {
    const id = String((await create({ disable_after_hours: 48 })).json['id'])
    const webhook = (await call('GET', `/${id}`)).json
    expect(webhook).toMatchObject({ disable_after_hours: 48, disabled_by_failures: null })
    await api.pool.query(
      `update webhooks set enabled = false, failing_since = '2026-01-01Z', disabled_at = '2026-01-03Z', disabled_reason = 'failing'
       where id = $1`,
      [idToUuid(id)],
    )
    const disabled_by_failures = { reason: 'failing', at: '2026-01-03T00:00:00.000Z' }
    const disabled = { ...webhook, enabled: false, disabled_by_failures }
    expect((await call('GET', `/${id}`)).json).toEqual(disabled)
    const never = { disable_after_hours: null }
    expect((await call('PATCH', `/${id}`, never)).json).toEqual({ ...disabled, ...never })
    expect((await call('PATCH', `/${id}`, { enabled: true })).json).toEqual({ ...webhook, ...never })
    const { rows } = await api.pool.query('select failing_since from webhooks where id = $1', [idToUuid(id)])
    expect(rows).toEqual([{ failing_since: null }])
  })

  test.each<[string, object, string]>([
    ['a disabling after no time', { disable_after_hours: 0 }, 'disable_after_hours'],
    ['an address of IPv4 in IPv6', { url: 'https://[::ffff:10.0.0.8]/' }, 'url'],
    ['a NAT64 address', { url: 'https://[64:ff9b::a00:8]/' }, 'url'],
    ['a 6to4 address', { url: 'https://[2002:a00:8::]/' }, 'url'],
    ['a link-local address', { url: 'https://[fe80::1]/' }, 'url'],
    ['an octal address', { url: 'https://0177.0.0.1/' }, 'url'],
    ['a decimal address', { url: 'https://2130706433/' }, 'url'],
    ['a name of this machine', { url: 'https://api.localhost./' }, 'url'],
    ['no url', { url: undefined }, 'url'],
    ['plain HTTP', { url: 'http://receiver.example.com' }, 'url'],
    ['another scheme', { url: 'ftp://receiver.example.com' }, 'url'],
    ['not a URL', { url: 'receiver' }, 'url'],
    ['a loopback address', { url: 'https://127.0.0.1/' }, 'url'],
    ['a loopback address in another form', { url: 'https://0x7f000001/' }, 'url'],
    ['a private address', { url: 'https://10.0.0.8/' }, 'url'],
    ['an IPv6 loopback address', { url: 'https://[::1]/' }, 'url'],
    ['a cloud metadata address', { url: 'https://169.254.169.254/' }, 'url'],
    ['credentials', { url: 'https://user:pass@receiver.example.com/' }, 'url'],
    ['what Postgres does not store', { url: 'https://receiver.example.com/\0' }, 'url'],
    ['an odd port', { url: 'https://receiver.example.com:22/' }, 'url'],
    ['no events', { events: [] }, 'events'],
    ['an unknown event', { events: ['new_tool'] }, 'events.0'],
    ['an event twice', { events: ['usage_alert', 'usage_alert'] }, 'events'],
    ['an unknown severity', { filters: { severity: ['awful'] } }, 'filters.severity.0'],
    ['an unknown filter', { filters: { colour: ['red'] } }, 'filters.colour'],
    ['a bad expression', { filter_expression: 'data.severity ==' }, 'filter_expression'],
    ['an unknown function', { filter_expression: 'nonsense(data.severity)' }, 'filter_expression'],
    ['types that fit no event', { filter_expression: 'data.severity > 3' }, 'filter_expression'],
    ['an unknown name', { filter_expression: 'severity == "high"' }, 'filter_expression'],
    [
      'a long expression',
      { filter_expression: `true || ${'true || '.repeat(400)}true` },
      'filter_expression',
    ],
  ])('refuse %s', async (_name, change, path) => {
    const { status, json } = await create(change)
    expect([status, (json['errors'] as { path: string }[] | undefined)?.map((error) => error.path)]).toEqual([
      422,
      [path],
    ])
  })

  test('say where a bad expression is wrong', async () => {
    const { json } = await create({ filter_expression: 'data.severity == "high" &&\n nonsense(1)' })
    expect(json['detail']).toContain('line 2')
  })

  test('are a thousand at most', async () => {
    const { projectId, key } = await api.createProject()
    await api.pool.query(
      `insert into webhooks (id, project_id, url, events, secret_codec, secret_data, created_at, updated_at)
       select gen_random_uuid(), $1, $2, '{}', 'none', '', now(), now() from generate_series(1, 999)`,
      [idToUuid(projectId), url],
    )
    const body = { url, events: ['threat_detected'] }
    const another = () => api.call('POST', '/api/v1/webhooks', { key, body })
    expect((await another()).status).toBe(201)
    const refused = await another()
    expect([refused.status, refused.json]).toMatchObject([
      422,
      { code: 'WEBHOOKS_TOO_MANY', errors: [{ path: '', message: 'the project has 1000 webhooks already' }] },
    ])
  })

  test('may use plain HTTP and private addresses where the operator allows the host', async () => {
    expect((await create({ url: 'http://localhost:9999/x' })).status).toBe(201)
    expect((await create({ url: 'http://10.0.0.7/x' })).status).toBe(201)
  })
})
