import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Service } from '#runtime/service.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { deadLetterTopic, topics } from '#schemas/topics.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { readLog } from '#tests/support/read-log.ts'
import { accept, startWebhookReceiver, type WebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { eventually } from '#tests/support/until.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from './testing/notifier-fixture.ts'
import { raisedEvent } from './testing/sample-records.ts'

let fixture: NotifierFixture
let service: Service
const receivers: WebhookReceiver[] = []
const refuse = { kind: 'answer', status: 503, body: 'not now' } as const

beforeAll(async () => {
  fixture = await createNotifierFixture()
  service = (await startNotifier(fixture, { WEBHOOK_ENDPOINT_CONCURRENCY: '8' })).service
})
afterAll(async () => {
  for (const receiver of receivers) await receiver.close()
  await service.stop()
  await service.done
  await fixture.close()
})

async function openReceiver(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver()
  receivers.push(receiver)
  return receiver
}

/** A project with one webhook and its receiver, which trusts its secret. */
async function openEndpoint(given: Partial<Parameters<NotifierFixture['addWebhook']>[0]> = {}) {
  const receiver = await openReceiver()
  const projectId = given.projectId ?? (await fixture.addProject())
  const webhook = await fixture.addWebhook({ url: receiver.url, ...given, projectId })
  receiver.trust(webhook.secret)
  return { receiver, projectId, webhookId: webhook.id }
}

function threat(projectId: string, fields: object = {}): RaisedEvent {
  const requestId = newId('request')
  const content = { prompt_snippet: 'my number is …', completion_snippet: null }
  return raisedEvent({
    project_id: projectId,
    fields: { request_id: requestId, severity: 'critical', scorer_name: 'pii_detection', ...fields },
    content: fixture.sealer.seal(
      Buffer.from(JSON.stringify(content)),
      sealedIdentity(projectId, requestId, 'event_content'),
    ),
    content_id: requestId,
  })
}

test('an event is delivered once, signed, with what was sealed', async () => {
  const { receiver, projectId, webhookId } = await openEndpoint()
  const event = threat(projectId)
  await fixture.raise(event)
  const stored = await fixture.settled(event, webhookId, 'delivered')
  expect(receiver.deliveries).toHaveLength(1)
  expect(receiver.deliveries[0]).toMatchObject({
    verified: true,
    deliveryId: deliveryId(event, webhookId),
    envelope: {
      event: 'threat_detected',
      id: event.id,
      created_at: new Date(event.created_at).toISOString(),
      project_id: projectId,
      data: { severity: 'critical', prompt_snippet: 'my number is …', completion_snippet: null },
    },
  })
  expect(stored).toMatchObject({ attempt_count: 1, attempts: [{ number: 1, status_code: 200, error: null }] })
  expect(stored.delivered_at).not.toBeNull()
  // Its endpoint had a place: nobody had to ask for it.
  expect(await fixture.read(topics.deliveryDue)).toEqual([])
})

test('an event that comes three times is delivered once', async () => {
  const { receiver, projectId, webhookId } = await openEndpoint()
  const event = threat(projectId)
  await fixture.raise(event, event)
  await fixture.settled(event, webhookId, 'delivered')
  await fixture.raise(event)
  const after = threat(projectId)
  await fixture.raise(after)
  await fixture.settled(after, webhookId, 'delivered')
  expect(receiver.deliveries.filter(({ id }) => id === event.id)).toHaveLength(1)
})

// The next four mostly wait for what is due, each with endpoints of its own: at once.
test.concurrent(
  'three failures, then delivered: the same bytes, each delay at least its nominal value',
  async () => {
    const { receiver, projectId, webhookId } = await openEndpoint()
    receiver.behave((_delivery, before) => (before < 3 ? refuse : accept))
    const event = threat(projectId)
    await fixture.raise(event)
    const stored = await fixture.settled(event, webhookId, 'delivered')
    expect(receiver.deliveries).toHaveLength(4)
    expect(receiver.deliveries.every(({ verified }) => verified)).toBe(true)
    expect(new Set(receiver.deliveries.map(({ body }) => body.toString())).size).toBe(1)
    expect(stored.attempts.map(({ status_code: status }) => status)).toEqual([503, 503, 503, 200])
    expect(stored.attempts[0]?.response_excerpt?.toString()).toBe('not now')
    expectDelays(receiver, [1_000, 2_000, 4_000])
  },
)

test.concurrent('failing for good: four attempts, then failed and in the dead topic', async () => {
  const { receiver, projectId, webhookId } = await openEndpoint()
  receiver.behave(refuse)
  const event = threat(projectId)
  await fixture.raise(event)
  const stored = await fixture.settled(event, webhookId, 'failed')
  expect(receiver.deliveries).toHaveLength(4)
  expectDelays(receiver, [1_000, 2_000, 4_000])
  expect(stored.attempts.map(({ error }) => error)).toEqual(Array(4).fill('the receiver answered 503'))
  const dead = await eventually(
    () => fixture.read(topics.deliveryDead),
    (all) => all.some(({ event: { id } }) => id === event.id),
  )
  expect(dead.filter(({ event: { id } }) => id === event.id)).toEqual([
    expect.objectContaining({ attempt: 4, last_error: 'the receiver answered 503', webhook_id: webhookId }),
  ])
})

test.concurrent('a manual replay makes a new round after the attempts that were made', async () => {
  const { receiver, projectId, webhookId } = await openEndpoint({ enabled: false })
  const event = threat(projectId, { test: true })
  receiver.behave((_delivery, before) => (before < 4 ? refuse : accept))
  await fixture.raise({ ...event, webhook_id: webhookId })
  await fixture.settled(event, webhookId, 'failed')
  const replay = { attempt: 5, first_attempt: 5, due_at: Date.now(), last_error: null, event }
  const ids = { delivery_id: deliveryId(event, webhookId), webhook_id: webhookId, project_id: projectId }
  await fixture.send(topics.deliveryDue, webhookId, { ...replay, ...ids })
  await fixture.send(topics.deliveryDue, webhookId, { ...replay, ...ids })
  const stored = await fixture.settled(event, webhookId, 'delivered')
  expect(stored.attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
  expect(receiver.deliveries).toHaveLength(5)
})

test('a delivered one can be replayed: the same bytes again', async () => {
  const { receiver, projectId, webhookId } = await openEndpoint()
  const event = threat(projectId)
  await fixture.raise(event)
  await fixture.settled(event, webhookId, 'delivered')
  const ids = { delivery_id: deliveryId(event, webhookId), webhook_id: webhookId, project_id: projectId }
  const round = { attempt: 2, first_attempt: 2, due_at: Date.now(), last_error: null, event }
  await fixture.send(topics.deliveryDue, webhookId, { ...ids, ...round })
  await receiver.waitFor((all) => all.length === 2)
  const stored = await eventually(
    () => fixture.delivery(event, webhookId),
    (delivery) => delivery?.attempt_count === 2,
  )
  expect(stored?.status).toBe('delivered')
  expect(receiver.deliveries[0]?.body.equals(receiver.deliveries[1]?.body ?? Buffer.alloc(0))).toBe(true)
})

test('a redirect is a failure and is not followed', async () => {
  const elsewhere = await openReceiver()
  const { receiver, projectId, webhookId } = await openEndpoint()
  receiver.behave((_delivery, before) =>
    before === 0 ? { kind: 'answer', status: 302, headers: { location: elsewhere.url } } : accept,
  )
  const event = threat(projectId)
  await fixture.raise(event)
  const stored = await fixture.settled(event, webhookId, 'delivered')
  expect(stored.attempts.map(({ status_code: status }) => status)).toEqual([302, 200])
  expect(elsewhere.deliveries).toHaveLength(0)
})

test.concurrent('one that hangs does not hold up others, and is attempted again after its 10 s', async () => {
  const hanging = await openEndpoint()
  const well = await openEndpoint({ projectId: hanging.projectId })
  hanging.receiver.behave((_delivery, before) => (before === 0 ? { kind: 'hang' } : accept))
  const events = Array.from({ length: 16 }, () => threat(hanging.projectId))
  await fixture.raise(...events)
  await well.receiver.waitFor((all) => all.length === 16)
  expect(hanging.receiver.deliveries.length).toBeLessThan(32)
  for (const event of events) await fixture.settled(event, hanging.webhookId, 'delivered')
  expect(hanging.receiver.ids()).toHaveLength(16)
  expect(hanging.receiver.deliveries).toHaveLength(32)
  expect(well.receiver.deliveries).toHaveLength(16)
  await eventually(
    () => fixture.waiting(),
    (count) => count === 0,
  )
})

test('an endpoint gets no more at once than its places; the rest wait and come', async () => {
  const { receiver, projectId, webhookId } = await openEndpoint()
  const events = Array.from({ length: 300 }, () => threat(projectId))
  await fixture.raise(...events)
  for (const event of events) await fixture.settled(event, webhookId, 'delivered')
  expect(receiver.deliveries).toHaveLength(300)
  expect(receiver.ids()).toHaveLength(300)
  const asked = await fixture.read(topics.deliveryDue)
  expect(asked.some(({ webhook_id: id, attempt }) => id === webhookId && attempt === 1)).toBe(true)
})

describe('who gets what', () => {
  test('filters, expressions, names, projects', async () => {
    const all = await openEndpoint()
    const { projectId } = all
    const critical = await openEndpoint({ projectId, filters: { severity: ['critical'] } })
    const expression = await openEndpoint({ projectId, filterExpression: "data.severity == 'high'" })
    const failing = await openEndpoint({ projectId, filterExpression: 'data.severity > 3' })
    const alerts = await openEndpoint({ projectId, events: ['usage_alert'] })
    const disabled = await openEndpoint({ projectId, enabled: false })
    const stranger = await openEndpoint()
    const high = threat(projectId, { severity: 'high' })
    const tool = raisedEvent({
      event: 'new_tool_detected',
      project_id: projectId,
      fields: { tool_name: 'sh' },
    })
    await fixture.raise(high, tool)
    await Promise.all([
      all.receiver.waitFor((came) => came.length === 2),
      critical.receiver.waitFor((came) => came.length === 1),
      expression.receiver.waitFor((came) => came.length === 1),
      alerts.receiver.waitFor((came) => came.length === 1),
    ])
    expect(new Set(all.receiver.ids())).toEqual(new Set([high.id, tool.id]))
    expect(critical.receiver.ids()).toEqual([tool.id])
    expect(expression.receiver.ids()).toEqual([high.id])
    expect(alerts.receiver.ids()).toEqual([tool.id])
    for (const none of [failing, disabled, stranger]) expect(none.receiver.deliveries).toHaveLength(0)
    // Written down behind the deliveries.
    const shown = await eventually(
      () =>
        fixture.pool.query<{ expression_failure: string | null }>(
          'select expression_failure from webhooks where project_id = $1 and expression_failed_at is not null',
          [idToUuid(projectId)],
        ),
      ({ rowCount }) => rowCount !== 0,
    )
    expect(shown.rows).toEqual([{ expression_failure: expect.any(String) }])
  })

  test('an event whose content cannot be opened is set aside, and those behind it come', async () => {
    const { receiver, projectId, webhookId } = await openEndpoint()
    const broken = { ...threat(projectId), content_id: newId('request') }
    const next = threat(projectId)
    await fixture.raise(broken, raisedEvent({ project_id: 'prj_nonsense' }))
    await fixture.raise(next)
    await fixture.settled(next, webhookId, 'delivered')
    expect(receiver.ids()).toEqual([next.id])
    const letters = await eventually(
      () => readLog(fixture.kafka, fixture.prefix + deadLetterTopic(topics.eventRaised.name)),
      (all) => all.length === 2,
    )
    const codes = letters.map(({ headers }) => String(headers['sluice-dlq-code']))
    expect(codes.toSorted()).toEqual(['CANNOT_OPEN', 'INVALID_IDENTIFIER'])
  })
})

/** Between the end of an answer and the next request, by the receiver's own clock. */
function expectDelays(receiver: WebhookReceiver, delaysMs: readonly number[]): void {
  const waited = receiver.deliveries
    .slice(1)
    .map(({ receivedAtMs }, index) => receivedAtMs - (receiver.deliveries[index]?.answeredAtMs ?? 0))
  expect(waited.map((ms, index) => ms >= (delaysMs[index] ?? Infinity))).toEqual(delaysMs.map(() => true))
}
