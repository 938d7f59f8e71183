import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import type { Service } from '#runtime/service.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { eventually } from '#tests/support/until.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from './testing/notifier-fixture.ts'
import { raisedEvent } from './testing/sample-records.ts'

let fixture: NotifierFixture
let service: Service
const receivers: WebhookReceiver[] = []
const refuse = { kind: 'answer', status: 503 } as const

beforeAll(async () => {
  fixture = await createNotifierFixture()
  service = (await startNotifier(fixture)).service
})
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})
afterAll(async () => {
  await service.stop()
  await service.done
  await fixture.close()
})

async function openEndpoint(projectId: string) {
  const receiver = await startWebhookReceiver()
  receivers.push(receiver)
  const webhook = await fixture.addWebhook({ url: receiver.url, projectId })
  receiver.trust(webhook.secret)
  return { receiver, webhookId: webhook.id }
}

test('a webhook is disabled when its owner asked for it and nothing was delivered for that long', async () => {
  const projectId = await fixture.addProject()
  const openFailing = async () => {
    const { webhookId, receiver } = await openEndpoint(projectId)
    receiver.behave(refuse)
    return webhookId
  }
  const over = await openFailing()
  const notYet = await openFailing()
  const notAsked = await openFailing()
  const { webhookId: well } = await openEndpoint(projectId)
  await fixture.pool.query(
    `update webhooks set disable_after_hours = case when id = $3 then null else 24 end,
       failing_since = now() - case when id = $2 then interval '23 hours' else interval '25 hours' end
     where project_id = $1`,
    [projectId, notYet, notAsked].map(idToUuid),
  )
  const event = raisedEvent({ project_id: projectId })
  await fixture.raise(event)
  const failed = await Promise.all(
    [over, notYet, notAsked].map((webhookId) => fixture.settled(event, webhookId, 'failed')),
  )
  await fixture.settled(event, well, 'delivered')
  const errors = failed.map(({ attempts }) => attempts.at(-1)?.error)
  expect(errors).toEqual([
    expect.stringMatching(
      /^the receiver answered 503; the webhook is disabled: nothing was delivered for 24 h, since 20/,
    ),
    ...Array<string>(2).fill('the receiver answered 503'),
  ])
  const { rows } = await fixture.pool.query<Record<string, unknown>>(
    `select id, enabled, failing_since is not null as failing, disabled_at is not null as disabled from webhooks
     where project_id = $1`,
    [idToUuid(projectId)],
  )
  const states = new Map(rows.map(({ id, ...state }) => [idFromUuid('webhook', String(id)), state]))
  expect(states.get(over)).toEqual({ enabled: false, failing: true, disabled: true })
  for (const other of [notYet, notAsked])
    expect(states.get(other)).toEqual({ enabled: true, failing: true, disabled: false })
  expect(states.get(well)).toEqual({ enabled: true, failing: false, disabled: false })
})

test('a webhook disabled between attempts gets no more', async () => {
  const projectId = await fixture.addProject()
  const { receiver, webhookId } = await openEndpoint(projectId)
  // It is told before it answers.
  receiver.behave({ ...refuse, delayMs: 3_000 })
  const event = raisedEvent({ project_id: projectId })
  await fixture.raise(event)
  await receiver.waitFor((all) => all.length === 1)
  await fixture.pool.query('update webhooks set enabled = false')
  const stored = await fixture.settled(event, webhookId, 'failed')
  expect(receiver.deliveries).toHaveLength(1)
  expect(stored.attempts.at(-1)?.error).toBe('the webhook is disabled')
})

/** As though its endpoint had been full. */
async function setWaiting(event: RaisedEvent, webhookId: string): Promise<void> {
  await fixture.pool.query(
    `with delivery as (
       insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, created_at)
       select $2, id, project_id, $3, 'threat_detected', now(), $4, now() from webhooks where id = $1 returning id, webhook_id
     )
     insert into webhook_waiting select id, webhook_id, 1, 1, null, now() from delivery`,
    [idToUuid(webhookId), idToUuid(deliveryId(event, webhookId)), idToUuid(event.id), event.data],
  )
}

async function expectGivenUp(event: RaisedEvent, webhookId: string, error: RegExp): Promise<void> {
  const stored = await fixture.settled(event, webhookId, 'failed')
  expect(stored.attempts).toMatchObject([{ number: 1, error: expect.stringMatching(error) }])
  await eventually(
    () => fixture.waiting(),
    (count) => count === 0,
  )
  const dead = await fixture.read(topics.deliveryDead)
  expect(dead.filter(({ event: { id } }) => id === event.id)).toMatchObject([{ attempt: 1 }])
}

test('what waits and cannot be opened fails for good, says why, and waits no more', async () => {
  const projectId = await fixture.addProject()
  const { receiver, webhookId } = await openEndpoint(projectId)
  const [one, waiting] = [raisedEvent({ project_id: projectId }), raisedEvent({ project_id: projectId })]
  await fixture.raise(one)
  await fixture.settled(one, webhookId, 'delivered')
  const foreign = createSealer([{ id: 'k9', key: Buffer.alloc(32, 9) }])
  const secret = foreign.seal(Buffer.from('whsec_'), sealedIdentity(projectId, webhookId, 'webhook_secret'))
  await fixture.pool.query(
    'update webhooks set secret_key_id = $2, secret_data = $3, updated_at = now() where id = $1',
    [idToUuid(webhookId), secret.key_id, secret.data],
  )
  await setWaiting(waiting, webhookId)
  await expectGivenUp(waiting, webhookId, /^cannot be sent: .*k9/)
  expect(receiver.ids()).toEqual([one.id])
})

test('what Postgres refuses of one attempt ends this delivery, and no others', async () => {
  const projectId = await fixture.addProject()
  const refused = await openEndpoint(projectId)
  refused.receiver.behave({ kind: 'answer', status: 418 })
  const { webhookId: well } = await openEndpoint(projectId)
  await fixture.pool.query(
    'alter table webhook_attempts add constraint no_teapots check (status_code <> 418) not valid',
  )
  const raised = () => raisedEvent({ project_id: projectId })
  const [waiting, first, second] = [raised(), raised(), raised()]
  await setWaiting(waiting, refused.webhookId)
  await expectGivenUp(waiting, refused.webhookId, /^cannot be attempted: Postgres refused .*no_teapots/)
  expect(refused.receiver.ids()).toEqual([waiting.id])
  // With a record it is set aside, and the consumer goes on.
  await fixture.raise(first)
  await refused.receiver.waitFor((all) => all.length === 2)
  await fixture.raise(second)
  await fixture.settled(second, well, 'delivered')
})
