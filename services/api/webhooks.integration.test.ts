import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { hashedId, idToUuid, newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
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
}, 60_000)
afterAll(() => api.stop(), 60_000)

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
      `update webhooks set enabled = false, failing_since = '2026-01-01', disabled_at = '2026-01-03', disabled_reason = 'failing'
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

  test('may use plain HTTP and private addresses where the operator allows the host', async () => {
    expect((await create({ url: 'http://localhost:9999/x' })).status).toBe(201)
    expect((await create({ url: 'http://10.0.0.7/x' })).status).toBe(201)
  })
})

describe('deliveries', () => {
  test('of a test event go through the outbox to this webhook alone', async () => {
    const id = String((await create()).json['id'])
    const answer = await call('POST', `/${id}/test`, { event: 'usage_alert' })
    expect(answer.status).toBe(202)
    expect(String(answer.json['delivery_id'])).toMatch(/^dlv_/)
    const { rows } = await api.pool.query<{ event: string; data: Buffer }>(
      'select event, data from event_outbox where webhook_id = $1',
      [idToUuid(id)],
    )
    expect(rows).toHaveLength(1)
    expect([rows[0]?.event, JSON.parse(String(rows[0]?.data)) as unknown]).toMatchObject([
      'usage_alert',
      { test: true, alert_type: 'quota_exceeded' },
    ])
    expect((await call('POST', `/${id}/test`)).status).toBe(202)
    expect((await call('POST', `/${id}/test`, { event: 'x' })).status).toBe(422)
  })

  test('are listed with their attempts, by page and cursor, and delivered again on request', async () => {
    const id = String((await create()).json['id'])
    const deliveries = Array.from({ length: 3 }, (_, index) =>
      hashedId('delivery', Date.now(), [String(index)]),
    )
    for (const [index, delivery] of deliveries.entries()) {
      await api.pool.query(
        `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status,
           attempt_count, created_at)
         values ($1, $2, $3, $4, 'threat_detected', now(), '{"a":1}', $5, 4, now() + $6 * interval '1 microsecond')`,
        [
          idToUuid(delivery),
          idToUuid(id),
          idToUuid(project.projectId),
          idToUuid(newId('event')),
          index === 0 ? 'retrying' : 'failed',
          index,
        ],
      )
    }
    await api.pool.query(
      `insert into webhook_attempts values ($1, 4, now(), now(), now(), 500, 12.5, 'answered 500', 'oops')`,
      [idToUuid(String(deliveries[2]))],
    )
    const first = await call('GET', `/${id}/deliveries?page_size=2`)
    expect(first.json['total']).toBe(3)
    expect((first.json['items'] as unknown[])[0]).toMatchObject({
      id: deliveries[2],
      webhook_id: id,
      status: 'failed',
      attempt_count: 4,
      attempts: [
        { number: 4, status_code: 500, duration_ms: 12.5, error: 'answered 500', response_excerpt: 'oops' },
      ],
    })
    const rest = await call('GET', `/${id}/deliveries?cursor=${String(first.json['next_cursor'])}`)
    expect((rest.json['items'] as { id: string }[]).map((item) => item.id)).toEqual([deliveries[0]])
    expect((await call('GET', `/${id}/deliveries?status=retrying`)).json['total']).toBe(1)

    const busy = await call('POST', `/${id}/deliveries/${String(deliveries[0])}/replay`)
    expect([busy.status, busy.json['code']]).toEqual([409, 'DELIVERY_UNDER_WAY'])
    const replayed = await call('POST', `/${id}/deliveries/${String(deliveries[1])}/replay`)
    expect([replayed.status, replayed.json]).toEqual([202, { delivery_id: deliveries[1] }])
    const queued = await api.readTopic(topics.deliveryDue)
    expect(queued).toMatchObject([
      {
        delivery_id: deliveries[1],
        webhook_id: id,
        attempt: 5,
        first_attempt: 5,
        event: { event: 'threat_detected' },
      },
    ])
    expect((await call('GET', `/${id}/deliveries?status=pending`)).json['total']).toBe(1)

    const rangeOf = (fromMs: number, toMs: number) => ({
      start: new Date(Date.now() + fromMs).toISOString(),
      end: new Date(Date.now() + toMs).toISOString(),
    })
    const replayFailed = (body: object) => call('POST', `/${id}/deliveries/replay`, body)
    expect((await replayFailed(rangeOf(-7_200_000, -3_600_000))).json).toEqual({
      replayed: 0,
      has_more: false,
    })
    const all = await replayFailed(rangeOf(-3_600_000, 60_000))
    expect([all.status, all.json]).toEqual([202, { replayed: 1, has_more: false }])
    const [, second] = await api.readTopic(topics.deliveryDue)
    expect(second).toMatchObject({ delivery_id: deliveries[2], attempt: 5, first_attempt: 5 })
    expect((await call('GET', `/${id}/deliveries?status=pending`)).json['total']).toBe(2)
    expect((await replayFailed(rangeOf(60_000, 0))).json['errors']).toMatchObject([{ path: 'end' }])
    expect((await call('POST', `/${id}/deliveries/${newId('delivery')}/replay`)).status).toBe(404)
  })
})
