import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { hashedId, idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import { topics } from '#schemas/topics.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

const none = { replayed: 0, has_more: false, next_cursor: null }
let api: RunningApi
let project: { projectId: string; key: string }

beforeAll(async () => {
  api = await startApi()
  project = await api.createProject()
})
afterAll(() => api.stop())

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/api/v1/webhooks${path}`, { key: project.key, ...(body === undefined ? {} : { body }) })
const create = () =>
  call('POST', '', { url: 'https://receiver.example.com/hook', events: ['threat_detected'] })

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
    expect((await replayFailed(rangeOf(-7_200_000, -3_600_000))).json).toEqual(none)
    const all = await replayFailed(rangeOf(-3_600_000, 60_000))
    expect([all.status, all.json]).toEqual([202, { replayed: 1, has_more: false, next_cursor: null }])
    const [, second] = await api.readTopic(topics.deliveryDue)
    expect(second).toMatchObject({ delivery_id: deliveries[2], attempt: 5, first_attempt: 5 })
    expect((await call('GET', `/${id}/deliveries?status=pending`)).json['total']).toBe(2)
    expect((await replayFailed(rangeOf(60_000, 0))).json['errors']).toMatchObject([{ path: 'end' }])
    // Both were under way and are abandoned: one lost its record, the other its retry.
    await api.pool.query(
      "update webhook_deliveries set created_at = created_at - interval '2 hours' where id = any($1::uuid[])",
      [[deliveries[0], deliveries[1]].map((delivery) => idToUuid(String(delivery)))],
    )
    const listed = async () => (await call('GET', `/${id}/deliveries`)).json['items']
    const mayGo = (canBe: boolean) => ({ can_be_replayed: canBe })
    expect(await listed()).toMatchObject([mayGo(false), mayGo(true), mayGo(true)])
    const left = await call('POST', `/${id}/deliveries/${String(deliveries[1])}/replay`)
    expect([left.status, left.json]).toEqual([202, { delivery_id: deliveries[1] }])
    // The round is requested as the same attempt, which is made once.
    expect((await replayFailed(rangeOf(-7_500_000, -3_600_000))).json).toMatchObject({ replayed: 2 })
    const rounds = await api.readTopic(topics.deliveryDue)
    expect(rounds.slice(2)).toMatchObject([
      { delivery_id: deliveries[1], attempt: 5, first_attempt: 5 },
      { delivery_id: deliveries[0], attempt: 5, first_attempt: 5 },
      { delivery_id: deliveries[1], attempt: 5, first_attempt: 5 },
    ])
    // One is being attempted, the other waits for its endpoint: neither is abandoned.
    await api.pool.query('insert into webhook_attempts values ($1, 5, now(), now())', [
      idToUuid(String(deliveries[0])),
    ])
    await api.pool.query('insert into webhook_waiting values ($1, $2, 5, 5, null, now())', [
      idToUuid(String(deliveries[1])),
      idToUuid(id),
    ])
    expect((await replayFailed(rangeOf(-7_500_000, -3_600_000))).json).toEqual(none)
    const waits = await call('POST', `/${id}/deliveries/${String(deliveries[1])}/replay`)
    expect([waits.status, waits.json['code']]).toEqual([409, 'DELIVERY_UNDER_WAY'])
    expect(await listed()).toMatchObject([mayGo(false), mayGo(false), mayGo(false)])
    expect((await call('GET', `/${id}/deliveries?status=pending`)).json['total']).toBe(3)
    expect((await call('POST', `/${id}/deliveries/${newId('delivery')}/replay`)).status).toBe(404)
  })

  test('that were chosen are delivered again, once; those under way and those of others are named and left', async () => {
    const own = String((await create()).json['id'])
    const other = String((await create()).json['id'])
    const insert = async (webhook: string, status: string) => {
      const delivery = newId('delivery')
      await api.pool.query(
        `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count, created_at)
         values ($1, $2, $3, gen_random_uuid(), 'threat_detected', now(), '{}', $4, 4, clock_timestamp())`,
        [idToUuid(delivery), idToUuid(webhook), idToUuid(project.projectId), status],
      )
      return delivery
    }
    const failed = await insert(own, 'failed')
    const delivered = await insert(own, 'delivered')
    const retrying = await insert(own, 'retrying')
    const ofOther = await insert(other, 'failed')
    const replay = (delivery_ids: readonly string[]) =>
      call('POST', `/${own}/deliveries/replay-chosen`, { delivery_ids })

    const answer = await replay([delivered, failed, failed, retrying, ofOther])
    const left = [
      { delivery_id: retrying, reason: 'under_way' },
      { delivery_id: ofOther, reason: 'unknown' },
    ]
    expect([answer.status, answer.json]).toEqual([202, { replayed: 2, skipped: left }])
    // Another webhook's deliveries are in another partition, before or after these.
    const queued = (await api.readTopic(topics.deliveryDue)).filter(({ webhook_id }) => webhook_id === own)
    expect(queued).toMatchObject([
      { delivery_id: failed, webhook_id: own, attempt: 5, first_attempt: 5 },
      { delivery_id: delivered, webhook_id: own, attempt: 5, first_attempt: 5 },
    ])
    const again = await replay([delivered, failed])
    expect(again.json).toMatchObject({
      replayed: 0,
      skipped: [{ reason: 'under_way' }, { reason: 'under_way' }],
    })
    expect((await replay([])).json['errors']).toMatchObject([{ path: 'delivery_ids' }])
    // Another webhook's are neither listed nor replayed with these.
    expect((await call('GET', `/${own}/deliveries`)).json['total']).toBe(3)
    const [start, end] = [-60_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString())
    expect((await call('POST', `/${own}/deliveries/replay`, { start, end })).json).toEqual(none)

    const stranger = await api.createProject()
    const callAs = (path: string, body: object) =>
      api.call('POST', `/api/v1/webhooks${path}`, { key: stranger.key, body })
    const theirs = await callAs('', { url: 'https://other.example.com', events: ['threat_detected'] })
    const choice = { delivery_ids: [ofOther] }
    expect((await callAs(`/${own}/deliveries/replay-chosen`, choice)).status).toBe(404)
    const taken = await callAs(`/${String(theirs.json['id'])}/deliveries/replay-chosen`, choice)
    expect(taken.json).toEqual({ replayed: 0, skipped: [{ delivery_id: ofOther, reason: 'unknown' }] })

    await call('PATCH', `/${other}`, { enabled: false })
    const refused = await call('POST', `/${other}/deliveries/replay-chosen`, choice)
    expect([refused.status, refused.json['code']]).toEqual([409, 'WEBHOOK_DISABLED'])
  })

  test('that nobody ever attempted are found among fifty times as many, by pages of which one finds nothing', async () => {
    const id = String((await create()).json['id'])
    const made = `
      insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, created_at)
      select gen_random_uuid(), $1, $2, gen_random_uuid(), 'threat_detected', now(), '{}',
        case when place > 10000 then 'pending' else 'delivered' end, now() - interval '2 hours' + (place + 1) / 2 * interval '1 microsecond'
      from generate_series(1, 10200) place`
    await api.pool.query(made, [idToUuid(id), idToUuid(project.projectId)])
    const replay = (key: string, body: object = {}) =>
      api.call('POST', `/api/v1/webhooks/${id}/deliveries/replay`, {
        key,
        body: {
          start: new Date(Date.now() - 7_500_000).toISOString(),
          end: new Date(Date.now() - 3_600_000).toISOString(),
          ...body,
        },
      })
    const { json: first } = await replay(project.key)
    expect(first).toEqual({ replayed: 0, has_more: true, next_cursor: expect.any(String) })
    const cursor = { cursor: first['next_cursor'] }
    expect((await replay((await api.createProject()).key, cursor)).status).toBe(404)
    const { json: second } = await replay(project.key, cursor)
    expect(second).toEqual({ replayed: 200, has_more: false, next_cursor: null })
    const queued = (await api.readTopic(topics.deliveryDue)).filter(({ webhook_id }) => webhook_id === id)
    expect(new Set(queued.map(({ delivery_id }) => delivery_id)).size).toBe(200)
    expect(queued[0]).toMatchObject({ attempt: 1, first_attempt: 1 })
  })

  test('that failed are delivered again page by page, those that fail again meanwhile not once more', async () => {
    const id = String((await create()).json['id'])
    const insert = `
      insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count, created_at)
      select gen_random_uuid(), $1, $2, gen_random_uuid(), 'threat_detected', now(), '{}', 'failed', 4, now() + place / 2 * interval '1 microsecond' from generate_series(1, 501) place`
    await api.pool.query(insert, [idToUuid(id), idToUuid(project.projectId)])
    const range = {
      start: new Date(Date.now() - 60_000).toISOString(),
      end: new Date(Date.now() + 60_000).toISOString(),
    }
    const replay = (body: object = {}) => call('POST', `/${id}/deliveries/replay`, { ...range, ...body })
    const { json: first } = await replay()
    expect(first).toMatchObject({ replayed: 500, has_more: true })
    await api.pool.query("update webhook_deliveries set status = 'failed' where webhook_id = $1", [
      idToUuid(id),
    ])
    // The position of a cursor survives the deletion of its delivery.
    const { rowCount } = await api.pool.query(
      `delete from webhook_deliveries where id = (
         select id from webhook_deliveries where webhook_id = $1 order by created_at, id offset 499 limit 1)`,
      [idToUuid(id)],
    )
    expect(rowCount).toBe(1)
    const { json: second } = await replay({ cursor: first['next_cursor'] })
    expect(second).toEqual({ replayed: 1, has_more: false, next_cursor: null })
    expect((await replay({ cursor: 'mine' })).json['errors']).toMatchObject([{ path: 'cursor' }])

    await call('PATCH', `/${id}`, { enabled: false })
    const refused = await replay()
    expect([refused.status, refused.json['code']]).toEqual([409, 'WEBHOOK_DISABLED'])

    const { rows } = await api.pool.query<{ id: string }>(
      'select id from webhook_deliveries where webhook_id = $1 limit 1',
      [idToUuid(id)],
    )
    const one = idFromUuid('delivery', String(rows[0]?.id))
    expect((await call('DELETE', `/${id}`)).status).toBe(204)
    const chosen = () => call('POST', `/${id}/deliveries/replay-chosen`, { delivery_ids: [one] })
    const log = () => call('GET', `/${id}/deliveries`)
    for (const ask of [log, replay, chosen, () => call('POST', `/${id}/deliveries/${one}/replay`)])
      expect((await ask()).status).toBe(404)
  })
})
