import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Service } from '#runtime/service.ts'
import { idToUuid } from '#schemas/ids.ts'
import { deadLetterTopic, topics } from '#schemas/topics.ts'
import { readLog } from '#tests/support/read-log.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { eventually } from '#tests/support/until.ts'
import { createDeliveryStore } from '../stores/delivery-store.ts'
import { createWebhookStore } from '../stores/webhook-store.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from '../testing/notifier-fixture.ts'
import { raisedEvent, webhookDelivery } from '../testing/sample-records.ts'

let fixture: NotifierFixture
let service: Service
let receiver: WebhookReceiver
const secrets: string[] = []

beforeAll(async () => {
  fixture = await createNotifierFixture()
  service = (await startNotifier(fixture)).service
  receiver = await startWebhookReceiver()
})
afterAll(async () => {
  await receiver.close()
  await service.stop()
  await service.done
  await fixture.close()
})

async function addWebhook(projectId: string, path: string): Promise<string> {
  const { id, secret } = await fixture.addWebhook({ url: receiver.url + path, projectId })
  secrets.push(secret)
  receiver.trust(...secrets)
  return id
}

test('what somebody else has begun is left to them until their claim is over, and then made', async () => {
  const projectId = await fixture.addProject()
  const webhookId = await addWebhook(projectId, '/well')
  const event = raisedEvent({ project_id: projectId })
  // By a notifier that died of it.
  const leaseMs = 8_000
  const webhook = await createWebhookStore(fixture.pool).find(projectId, webhookId)
  const delivery = webhookDelivery({ event, webhook_id: webhookId })
  await createDeliveryStore(fixture.pool, leaseMs).beginAll([
    { delivery, webhook: { version: webhook?.version ?? 'gone' } },
  ])
  await fixture.raise(event)
  const count = () => receiver.deliveries.filter(({ id }) => id === event.id).length
  const before = await eventually(
    () => fixture.waiting(),
    (waiting) => waiting > 0,
  )
  expect({ before, sent: count() }).toEqual({ before: 1, sent: 0 })
  const stored = await fixture.settled(event, webhookId, 'delivered')
  expect(stored.attempts).toHaveLength(1)
  expect(count()).toBe(1)
})

test('a webhook whose secret cannot be opened is a dead letter of its own; the event reaches the others', async () => {
  const projectId = await fixture.addProject()
  const webhookId = await addWebhook(projectId, '/well')
  const broken = await addWebhook(projectId, '/broken')
  await fixture.pool.query("update webhooks set secret_data = 'not sealed' where id = $1", [idToUuid(broken)])
  const event = raisedEvent({ project_id: projectId })
  await fixture.raise(event)
  await fixture.settled(event, webhookId, 'delivered')
  const letters = await eventually(
    () => readLog(fixture.kafka, fixture.prefix + deadLetterTopic(topics.deliveryDue.name)),
    (all) => all.length === 1,
  )
  expect(letters.map(({ headers }) => String(headers['sluice-dlq-code']))).toEqual(['CANNOT_OPEN'])
  const sent = receiver.deliveries.filter(({ id }) => id === event.id)
  expect(sent.map(({ path }) => path)).toEqual(['/hook/well'])
})
