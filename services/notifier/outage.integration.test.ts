import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Metrics } from '#runtime/metrics.ts'
import type { Service } from '#runtime/service.ts'
import { openLine, type CuttableLine } from '#tests/support/cuttable-line.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { eventually } from '#tests/support/until.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from './testing/notifier-fixture.ts'
import { raisedEvent } from './testing/sample-records.ts'

let fixture: NotifierFixture
let line: CuttableLine
let service: Service
let metrics: Metrics
let receiver: WebhookReceiver

beforeAll(async () => {
  fixture = await createNotifierFixture()
  line = await openLine(fixture.environment['DATABASE_URL'] ?? '')
  ;({ service, metrics } = await startNotifier(fixture, { DATABASE_URL: line.url }))
})
beforeEach(async () => {
  receiver = await startWebhookReceiver()
})
afterEach(() => receiver.close())
afterAll(async () => {
  await service.stop()
  await service.done
  await line.close()
  await fixture.close()
})

// The one is answered before its record has waited too long, the other after it was handed to the database.
test.each([
  ['soon', 50],
  ['late', 8_000],
])(
  'Postgres goes away while an attempt is under way that is answered %s: it is written afterwards and not sent again',
  async (name, delayMs) => {
    const projectId = await fixture.addProject()
    const webhook = await fixture.addWebhook({ url: receiver.url, projectId })
    receiver.trust(webhook.secret)
    receiver.behave({ kind: 'answer', status: 200, delayMs })
    const event = raisedEvent({ project_id: projectId })
    await fixture.raise(event)
    await receiver.waitFor((all) => all.length === 1)
    if (name === 'late') await forbidAnother()
    line.cut()
    await eventually(
      () => Promise.resolve(receiver.deliveries[0]?.answeredAtMs ?? null),
      (at) => at !== null,
    )
    setTimeout(() => line.mend(), 2_000)
    const stored = await fixture.settled(event, webhook.id, 'delivered')
    expect(stored.attempts).toHaveLength(1)
    expect(receiver.deliveries).toHaveLength(1)
    await eventually(
      () => fixture.waiting(),
      (count) => count === 0,
    )
    expect(receiver.deliveries).toHaveLength(1)
  },
)

/**
 * What was handed to the database does not fall due there: the notifier that made the attempt has to write
 * it, before another notifier makes it again.
 */
async function forbidAnother(): Promise<void> {
  await eventually(
    () => fixture.pool.query("update webhook_waiting set due_at = 'infinity'"),
    ({ rowCount }) => rowCount === 1,
  )
}

test('events raised while Postgres is away are delivered once when it is back', async () => {
  const projectId = await fixture.addProject()
  const webhook = await fixture.addWebhook({ url: receiver.url, projectId })
  receiver.trust(webhook.secret)
  const events = Array.from({ length: 50 }, () => raisedEvent({ project_id: projectId }))
  line.cut()
  await fixture.raise(...events)
  // Until then nothing that waits in the database is attempted, which no lag shows.
  await eventually(
    () => metrics.registry.getSingleMetricAsString('sluice_notifier_waiting_rounds_failed_total'),
    (text) => / [1-9]\d*$/m.test(text),
  )
  setTimeout(() => line.mend(), 5_000)
  for (const event of events) await fixture.settled(event, webhook.id, 'delivered')
  expect(receiver.deliveries).toHaveLength(50)
  expect(receiver.ids()).toHaveLength(50)
}, 300_000)
