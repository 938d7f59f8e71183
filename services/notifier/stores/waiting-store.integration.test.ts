import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createNotifierFixture, type NotifierFixture } from '../testing/notifier-fixture.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import { createWaitingStore } from './waiting-store.ts'

let fixture: NotifierFixture
let busy: { projectId: string; webhooks: string[] }
let other: { projectId: string; webhooks: string[] }

/** Each with so many attempts that wait, all for as long. */
async function addWaiting(webhookCount: number, each: number) {
  const projectId = await fixture.addProject()
  const webhooks = Array.from({ length: webhookCount }, () => newId('webhook'))
  const deliveries = webhooks.flatMap((webhook) =>
    Array.from({ length: each }, () => ({ id: idToUuid(newId('delivery')), webhook: idToUuid(webhook) })),
  )
  const ids = [deliveries.map(({ id }) => id), deliveries.map(({ webhook }) => webhook)]
  await fixture.pool.query(
    `insert into webhooks (id, project_id, url, events, secret_codec, secret_data, created_at, updated_at)
     select id, $2, 'https://receiver.example.com', '{}', 'none', '', now(), now() from unnest($1::uuid[]) as w (id)`,
    [webhooks.map(idToUuid), idToUuid(projectId)],
  )
  await fixture.pool.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, created_at)
     select id, webhook_id, $3, id, 'threat_detected', now(), '{}', now() from unnest($1::uuid[], $2::uuid[]) as d (id, webhook_id)`,
    [...ids, idToUuid(projectId)],
  )
  await fixture.pool.query(
    `insert into webhook_waiting (delivery_id, webhook_id, attempt, first_attempt, due_at)
     select id, webhook_id, 1, 1, now() from unnest($1::uuid[], $2::uuid[]) as d (id, webhook_id)`,
    ids,
  )
  return { projectId, webhooks }
}

beforeAll(async () => {
  fixture = await createNotifierFixture()
  busy = await addWaiting(1_000, 2)
  other = await addWaiting(1, 3)
})
afterAll(() => fixture.close())

test('places are dealt to projects in turn, and within each to its webhooks in turn', async () => {
  const waiting = createWaitingStore(fixture.pool)
  const limiter = new EndpointLimiter({ perEndpoint: 16, total: 64 })
  for (const webhookId of [...busy.webhooks, ...other.webhooks]) limiter.note(webhookId, true)
  const taken = await waiting.take({ permits: limiter.permitsLeft(), maxSlow: 1_000, leaseMs: 60_000 })
  const ofOther = taken.filter(({ project_id: projectId }) => projectId === other.projectId)
  const ofBusy = taken.filter(({ project_id: projectId }) => projectId === busy.projectId)
  expect([ofBusy.length, ofOther.length]).toEqual([15, 3])
  expect(new Set(ofBusy.map(({ webhook_id: webhookId }) => webhookId)).size).toBe(15)
  for (const delivery of ofOther) expect(limiter.acquire(delivery, 'waiting')).toBeDefined()
  // What is left now is another project's: nothing is taken only to be put back.
  for (const webhook_id of busy.webhooks)
    limiter.acquire({ webhook_id, project_id: busy.projectId }, 'waiting')
  expect(await waiting.take({ permits: limiter.permitsLeft(), maxSlow: 1_000, leaseMs: 60_000 })).toEqual([])
})

test('when many projects want the last places, all that is taken finds its place', async () => {
  const waiting = createWaitingStore(fixture.pool)
  const limiter = new EndpointLimiter({ perEndpoint: 16, total: 64 })
  const projects = await Promise.all(Array.from({ length: 11 }, () => addWaiting(1, 8)))
  const webhooks = projects.map(({ projectId, webhooks: [webhookId = ''] }) => ({
    webhook_id: webhookId,
    project_id: projectId,
  }))
  for (const { webhook_id: webhookId } of webhooks) limiter.note(webhookId, true)
  // One of the 32 places for slow ones each, and none for the last.
  for (const webhook of webhooks.slice(1)) expect(limiter.acquire(webhook, 'waiting')).toBeDefined()
  const taken = await waiting.take({ permits: limiter.permitsLeft(), maxSlow: 1_000, leaseMs: 60_000 })
  const ofSlow = taken.filter(({ webhook_id: id }) =>
    webhooks.some(({ webhook_id: webhookId }) => webhookId === id),
  )
  const placed = ofSlow.filter((delivery) => limiter.acquire(delivery, 'waiting') !== undefined)
  expect([ofSlow.length, placed.length]).toEqual([20, 20])
})

test('of slow webhooks the one comes first that was heard of longest ago, not the one with the longest queue', async () => {
  const { webhooks } = await addWaiting(20, 5)
  const [patient = ''] = webhooks
  await fixture.pool.query(
    "update webhook_waiting set due_at = due_at - interval '1 hour' where webhook_id = any($1) and webhook_id <> $2",
    [webhooks.map(idToUuid), idToUuid(patient)],
  )
  const limiter = new EndpointLimiter({ perEndpoint: 16, total: 64 })
  for (const webhookId of webhooks) limiter.note(webhookId, true)
  const taken = await createWaitingStore(fixture.pool).take({
    permits: limiter.permitsLeft(),
    maxSlow: 1_000,
    leaseMs: 60_000,
  })
  const ofThese = taken.map(({ webhook_id: id }) => id).filter((id) => webhooks.includes(id))
  expect(ofThese).toContain(patient)
  expect(new Set(ofThese).size).toBeLessThan(webhooks.length)
})

test('no more of slow webhooks are taken than may begin, of the project first that has the fewest', async () => {
  const [crowd, lone] = [await addWaiting(4, 8), await addWaiting(1, 1)]
  const limiter = new EndpointLimiter({ perEndpoint: 16, total: 64 })
  for (const webhookId of [...crowd.webhooks, ...lone.webhooks]) limiter.note(webhookId, true)
  for (const webhook_id of crowd.webhooks)
    limiter.acquire({ webhook_id, project_id: crowd.projectId }, 'waiting')
  const taken = await createWaitingStore(fixture.pool).take({
    permits: limiter.permitsLeft(),
    maxSlow: 3,
    leaseMs: 60_000,
  })
  const ofThese = taken.filter(({ webhook_id: id }) => limiter.kindOf(id) === 'slow')
  expect(ofThese).toHaveLength(3)
  expect(ofThese.map(({ project_id: projectId }) => projectId)).toContain(lone.projectId)
})

test('what is set aside falls due by the clock of the database', async () => {
  const waiting = createWaitingStore(fixture.pool)
  const [now, later] = [await addWaiting(1, 1), await addWaiting(1, 1)]
  const limiter = new EndpointLimiter({ perEndpoint: 16, total: 4_096 })
  const take = async () => {
    const taken = await waiting.take({ permits: limiter.permitsLeft(), maxSlow: 1_000, leaseMs: 600_000 })
    const ours = [now, later].flatMap(({ projectId }) =>
      taken.filter(({ project_id: taker }) => taker === projectId),
    )
    return ours.map((delivery) => ({ ...delivery, attempt: delivery.attempt + 1 }))
  }
  const [first, second] = (await take()) as [WebhookDelivery, WebhookDelivery]
  await waiting.add(first, { inMs: 0 })
  await waiting.add(second, { inMs: 600_000 })
  expect((await take()).map(({ delivery_id }) => delivery_id)).toEqual([first.delivery_id])
})

test('one of which nothing is known has one place', async () => {
  const waiting = createWaitingStore(fixture.pool)
  const { webhooks } = await addWaiting(1, 3)
  const limiter = new EndpointLimiter({ perEndpoint: 16, total: 4_096 })
  const taken = await waiting.take({ permits: limiter.permitsLeft(), maxSlow: 1_000, leaseMs: 60_000 })
  expect(taken.filter(({ webhook_id: webhookId }) => webhookId === webhooks[0])).toHaveLength(1)
})
