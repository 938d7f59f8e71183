import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

const key32 = Buffer.alloc(32, 7)
let api: RunningApi
let [project, other]: { projectId: string; key: string }[] = []

beforeAll(async () => {
  api = await startApi({
    BODY_ENCRYPTION_KEYS: `k1:${key32.toString('base64')}`,
    DESTINATION_ALLOW: 'siem.corp.example:6514,plain:10.0.0.7:25,plain:10.0.0.7:26',
  })
  project = await api.createProject()
  other = await api.createProject()
})
afterAll(() => api.stop())

const call = (method: string, path: string, body?: unknown, key = project?.key ?? '') =>
  api.call(method, `/api/v1/destinations${path}`, { key, ...(body === undefined ? {} : { body }) })

const secretUrl = 'https://hooks.slack.com/services/T000/B000/verysecret'
const slack = { kind: 'slack', credentials: { url: secretUrl } }

const secret = 'verysecretverysecretverysecret12'
const everyKind: [string, object][] = [
  ['slack', { credentials: { url: `https://hooks.slack.com/services/${secret}` } }],
  ['teams', { credentials: { url: `https://example.webhook.office.com/?sig=${secret}` } }],
  ['pagerduty', { credentials: { routing_key: secret } }],
  [
    'jira',
    {
      settings: { url: 'https://team.atlassian.net', user: 'bot@example.com', project_key: 'SEC' },
      credentials: { token: secret },
    },
  ],
  [
    'email',
    { settings: { ...email('10.0.0.7', 25).settings, user: 'u' }, credentials: { password: secret } },
  ],
  ['splunk_hec', { settings: { url: 'https://siem.example.com' }, credentials: { token: secret } }],
  ['json', { settings: json('{}').settings, credentials: { header: { name: 'X-Key', value: secret } } }],
  [
    'ocsf',
    {
      settings: { url: 'https://siem.example.com' },
      credentials: { header: { name: 'X-Key', value: secret } },
    },
  ],
]

describe('a destination', () => {
  test('is created with the defaults of its kind, and its credentials are shown nowhere', async () => {
    const { status, json } = await call('POST', '', slack)
    expect(status).toBe(201)
    expect(json).toMatchObject({
      kind: 'slack',
      url: 'https://hooks.slack.com/…',
      has_credentials: true,
      include_text: false,
      max_per_minute: 30,
      events: ['finding_opened', 'finding_reopened', 'finding_resolved', 'alert_fired', 'alert_recovered'],
    })
    const id = String(json['id'])
    const answers = [json, (await call('GET', `/${id}`)).json, (await call('GET', '')).json]
    const audit = await api.pool.query('select * from audit_log where subject = $1', [id])
    expect(audit.rowCount).toBe(1)
    expect(JSON.stringify([answers, audit.rows])).not.toContain('verysecret')
    const { rows } = await api.pool.query<{ codec: string; key_id: string; data: Buffer }>(
      'select credentials_codec as codec, credentials_key_id as key_id, credentials_data as data from webhooks where id = $1',
      [idToUuid(id)],
    )
    const sealed = rows[0] ?? { codec: '', key_id: null, data: Buffer.alloc(0) }
    const identity = sealedIdentity(project?.projectId ?? '', id, 'destination_credentials')
    const opened = createSealer([{ id: 'k1', key: key32 }]).open(sealed, identity)
    expect(JSON.parse(opened.toString())).toEqual({ url: secretUrl })
  })

  test.each(everyKind)('%s: no answer and no audit entry has its credentials', async (kind, given) => {
    const made = await call('POST', '', { kind, ...given })
    expect([made.status, made.json['has_credentials']]).toEqual([201, true])
    const path = `/${String(made.json['id'])}`
    const answers = [
      made,
      await call('PATCH', path, given),
      await call('PATCH', path, { credentials: { unknown: secret } }),
      await call('GET', path),
      await call('GET', ''),
      await api.call('GET', `/api/v1/webhooks${path}/deliveries`, { key: project?.key ?? '' }),
      await call('DELETE', path),
    ]
    const { rows } = await api.pool.query('select * from audit_log')
    expect(JSON.stringify([answers.map(({ text }) => text), rows])).not.toContain(secret)
    // Nor in any table: they are sealed.
    const stored = await api.pool.query(
      'select from webhooks w where position($1 in w::text) > 0 or position($2 in w::text) > 0',
      [Buffer.from(secret).toString('hex'), secret],
    )
    expect(stored.rowCount).toBe(0)
  })

  test('is no webhook: neither list has the other, and a webhook cannot become one', async () => {
    const made = await call('POST', '', slack)
    const id = String(made.json['id'])
    const webhooks = (method: string, path: string, body?: unknown) =>
      api.call(method, `/api/v1/webhooks${path}`, {
        key: project?.key ?? '',
        ...(body === undefined ? {} : { body }),
      })
    expect((await webhooks('GET', '')).text).not.toContain(id)
    expect((await webhooks('GET', `/${id}`)).status).toBe(404)
    expect((await webhooks('PATCH', `/${id}`, { enabled: false })).status).toBe(404)
    expect((await webhooks('GET', `/${id}/deliveries`)).status).toBe(200)
    const webhook = await webhooks('POST', '', {
      url: 'https://receiver.example.com',
      events: ['usage_alert'],
    })
    expect((await call('GET', `/${String(webhook.json['id'])}`)).status).toBe(404)
    expect((await call('DELETE', `/${String(webhook.json['id'])}`)).status).toBe(404)
  })

  test('gets what failed again by the replays of webhooks, and nothing for another project', async () => {
    const id = String((await call('POST', '', slack)).json['id'])
    const delivery = newId('delivery')
    await api.pool.query(
      `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count, created_at)
       values ($1, $2, $3, $4, 'finding_opened', now(), '{}', 'failed', 4, now())`,
      [delivery, id, project?.projectId ?? '', newId('event')].map(idToUuid),
    )
    const replay = (key = '') =>
      api.call('POST', `/api/v1/webhooks/${id}/deliveries/replay-chosen`, {
        ...{ key, body: { delivery_ids: [delivery] } },
      })
    expect((await replay(other?.key)).status).toBe(404)
    expect((await replay(project?.key)).json).toEqual({ replayed: 1, skipped: [] })
    await call('PATCH', `/${id}`, { enabled: false })
    expect((await replay(project?.key)).status).toBe(409)
  })

  test('loses its credentials with its address: they must be given again', async () => {
    const url = 'https://siem.corp.example:6514/services/collector/event'
    const made = await call('POST', '', {
      kind: 'splunk_hec',
      settings: { url },
      credentials: { token: 'tok' },
    })
    const path = `/${String(made.json['id'])}`
    const moved = { settings: { url: url.replace('collector', 'other') } }
    const refused = await call('PATCH', path, moved)
    expect([refused.status, refused.json['errors']]).toEqual([
      422,
      [expect.objectContaining({ path: 'credentials' })],
    ])
    expect((await call('PATCH', path, { settings: { url, index: 'llm' } })).json).toMatchObject({
      settings: { url, index: 'llm' },
      has_credentials: true,
    })
    const again = await call('PATCH', path, { ...moved, credentials: { token: 'new' } })
    expect(again.json).toMatchObject({ url: moved.settings.url })
  })

  test.each([
    ['email', email('10.0.0.7', 25).settings, { port: 26 }, { password: secret }],
    ['email', { ...email('10.0.0.7', 25).settings, tls: 'starttls' }, { tls: 'none' }, { password: secret }],
    ['pagerduty', {}, { url: 'https://events.example.com/v2/enqueue' }, { routing_key: secret }],
    [
      'ocsf',
      { url: 'https://siem.example.com' },
      { url: 'https://other.example.com' },
      { header: { name: 'X-Key', value: secret } },
    ],
  ])('%s %j with %j needs its credentials again', async (kind, settings, changed, credentials) => {
    const { json: made } = await call('POST', '', { kind, settings, credentials })
    const path = `/${String(made['id'])}`
    const { status, json: refused } = await call('PATCH', path, { settings: { ...settings, ...changed } })
    expect([status, JSON.stringify(refused['errors'])]).toEqual([
      422,
      expect.stringContaining('"credentials"'),
    ])
  })

  test('without credentials moves on its own', async () => {
    const settings = { host: 'siem.corp.example' }
    const { json: made } = await call('POST', '', { kind: 'syslog', settings })
    const moved = { host: '10.0.0.7', port: 25, tls: false }
    const { status, json } = await call('PATCH', `/${String(made['id'])}`, { settings: moved })
    expect([status, json['url']]).toEqual([200, 'syslog://10.0.0.7:25'])
  })

  test.each([
    ['an unknown kind', { kind: 'fax' }, 'kind'],
    ['a missing credential', { kind: 'slack' }, 'credentials.url'],
    ['an unknown setting', { ...slack, settings: { colour: 'red' } }, 'settings'],
    ['plain HTTP', { kind: 'slack', credentials: { url: 'http://hooks.slack.com/x' } }, 'credentials.url'],
    ['a private address', { kind: 'ocsf', settings: { url: 'https://10.0.0.8/x' } }, 'settings.url'],
    ['a mail server that is not listed', email('mail.example.com', 587), 'settings.host'],
    [
      'a listed server without TLS',
      { kind: 'syslog', settings: { host: 'siem.corp.example', tls: false } },
      'settings.host',
    ],
    ['a template that is no JSON', json('{'), 'settings.template'],
    ['a template with an unknown field', json('{"a": "{{data.password}}"}'), 'settings.template'],
    ['a line break in a header', header('a\r\nb'), 'credentials.header.value'],
    ['an expression that does not compile', { ...slack, filter_expression: 'data.' }, 'filter_expression'],
  ])('%s is refused by the name of its field', async (_name, body, path) => {
    const { status, json } = await call('POST', '', body)
    expect(status).toBe(422)
    expect(JSON.stringify(json['errors'])).toContain(`"path":"${path}`)
  })

  test('of another project does not exist', async () => {
    const { json } = await call('POST', '', { kind: 'email', settings: email('10.0.0.7', 25).settings })
    const path = `/${String(json['id'])}`
    const key = other?.key
    expect((await call('GET', '', undefined, key)).json['items']).toEqual([])
    for (const [method, body] of [['GET'], ['PATCH', { enabled: false }], ['DELETE']] as const)
      expect((await call(method, path, body, key)).status).toBe(404)
    expect((await call('GET', path)).json).toMatchObject({ enabled: true, url: 'smtp://10.0.0.7:25' })
    expect((await call('DELETE', path)).status).toBe(204)
  })
})

function email(host: string, port: number) {
  const settings = { host, port, tls: 'none', from: 'a@example.com', to: ['b@example.com'] }
  return { kind: 'email', settings }
}

function json(template: string) {
  return { kind: 'json', settings: { url: 'https://receiver.example.com', template } }
}

function header(value: string) {
  return { ...json('{}'), credentials: { header: { name: 'X-Key', value } } }
}
