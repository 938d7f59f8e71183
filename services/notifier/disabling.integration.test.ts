import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import type { Service } from '#runtime/service.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { eventually, setNotifierStage, startNotifier, type NotifierStage } from './testing/notifier-stage.ts'
import { raisedEvent } from './testing/sample-records.ts'

let stage: NotifierStage
let service: Service
const receivers: WebhookReceiver[] = []
const refuse = { kind: 'answer', status: 503 } as const

beforeAll(async () => {
  stage = await setNotifierStage()
  service = (await startNotifier(stage)).service
})
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})
afterAll(async () => {
  await service.stop()
  await service.done
  await stage.close()
})

async function openEndpoint(projectId: string) {
  const receiver = await startWebhookReceiver()
  receivers.push(receiver)
  const webhook = await stage.addWebhook({ url: receiver.url, projectId })
  receiver.trust(webhook.secret)
  return { receiver, webhookId: webhook.id }
}

test('a webhook is disabled when its owner asked for it and nothing was delivered for that long', async () => {
  const projectId = await stage.addProject()
  const openFailing = async () => {
    const { webhookId, receiver } = await openEndpoint(projectId)
    receiver.behave(refuse)
    return webhookId
  }
  const over = await openFailing()
  const notYet = await openFailing()
  const notAsked = await openFailing()
  const { webhookId: well } = await openEndpoint(projectId)
  await stage.pool.query(
    `update webhooks set disable_after_hours = case when id = $3 then null else 24 end,
       failing_since = now() - case when id = $2 then interval '23 hours' else interval '25 hours' end
     where project_id = $1`,
    [projectId, notYet, notAsked].map(idToUuid),
  )
  const event = raisedEvent({ project_id: projectId })
  await stage.raise(event)
  const failed = await Promise.all(
    [over, notYet, notAsked].map((webhookId) => stage.settled(event, webhookId, 'failed')),
  )
  await stage.settled(event, well, 'delivered')
  const errors = failed.map(({ attempts }) => attempts.at(-1)?.error)
  expect(errors).toEqual([
    expect.stringMatching(
      /^the receiver answered 503; the webhook is disabled: nothing was delivered for 24 h, since 20/,
    ),
    ...Array<string>(2).fill('the receiver answered 503'),
  ])
  const { rows } = await stage.pool.query<Record<string, unknown>>(
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
  const projectId = await stage.addProject()
  const { receiver, webhookId } = await openEndpoint(projectId)
  receiver.behave(refuse)
  const event = raisedEvent({ project_id: projectId })
  await stage.raise(event)
  await receiver.waitFor((all) => all.length === 1)
  await stage.pool.query('update webhooks set enabled = false')
  const stored = await stage.settled(event, webhookId, 'failed')
  expect(receiver.deliveries).toHaveLength(1)
  expect(stored.attempts.at(-1)?.error).toBe('the webhook is disabled')
})

test('what waits and cannot be opened fails for good, says why, and waits no more', async () => {
  const projectId = await stage.addProject()
  const { receiver, webhookId } = await openEndpoint(projectId)
  const [one, waiting] = [raisedEvent({ project_id: projectId }), raisedEvent({ project_id: projectId })]
  await stage.raise(one)
  await stage.settled(one, webhookId, 'delivered')
  const foreign = createSealer([{ id: 'k9', key: Buffer.alloc(32, 9) }])
  const secret = foreign.seal(Buffer.from('whsec_'), sealedIdentity(projectId, webhookId, 'webhook_secret'))
  await stage.pool.query(
    `with webhook as (
       update webhooks set secret_key_id = $2, secret_data = $3, updated_at = now() where id = $1 returning id, project_id
     ), delivery as (
       insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, created_at)
       select $4, id, project_id, $5, 'threat_detected', now(), $6, now() from webhook returning id, webhook_id
     )
     insert into webhook_waiting select id, webhook_id, 1, 1, null, now() from delivery`,
    [
      idToUuid(webhookId),
      secret.key_id,
      secret.data,
      idToUuid(deliveryId(waiting, webhookId)),
      idToUuid(waiting.id),
      waiting.data,
    ],
  )
  const stored = await stage.settled(waiting, webhookId, 'failed')
  expect(stored.attempts).toMatchObject([
    { number: 1, error: expect.stringMatching(/^cannot be sent: .*k9/) },
  ])
  await eventually(
    () => stage.waiting(),
    (count) => count === 0,
  )
  const dead = await stage.read(topics.deliveryDead)
  expect(dead.filter(({ event: { id } }) => id === waiting.id)).toMatchObject([{ attempt: 1 }])
  expect(receiver.ids()).toEqual([one.id])
})
