import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { Release } from '../limits/wait-queue.ts'
import { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import type { Attempt } from './attempt.ts'
import { InFlightBatch, type Send } from './in-flight-batch.ts'
import { signingKeyOf } from '../steps/sign-delivery.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import { deliveredAttempt, webhook, webhookDelivery } from '../testing/sample-records.ts'

const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }
const message = { body: Buffer.from('{}'), isTest: false, keys }
/** No test waits so long: what would have to wait for it does not end. */
const muchLaterMs = 60_000

/** So many deliveries with a place each, in the air. */
function sendAll(count: number, send?: Send) {
  const limiter = new EndpointLimiter({ perEndpoint: 1, total: 64 })
  const all = Array.from({ length: count }, (): Attempt => {
    const endpoint = webhook()
    const delivery = webhookDelivery({ webhook_id: endpoint.id })
    return {
      delivery,
      webhook: endpoint,
      what: message,
      release: limiter.acquireNow(delivery) as Release,
    }
  })
  const lands: ((attempt: FinishedAttempt) => void)[] = []
  const batch = new InFlightBatch(all, send ?? ((_attempt, onEnd) => lands.push(onEnd)))
  const land = (index: number, attempt = deliveredAttempt) => lands[index]?.(attempt)
  return { batch, all, limiter, land }
}

test('each is sent as it is', () => {
  const sent: unknown[] = []
  const { all } = sendAll(2, (attempt) => sent.push(attempt))
  expect(sent).toEqual(all)
})

test('what has landed is taken once, as it ended', async () => {
  const { batch, all, land } = sendAll(3)
  const refused = { ...deliveredAttempt, statusCode: 500, error: 'refused' }
  land(2, refused)
  expect(await batch.takeEnded(1)).toEqual([{ attempt: all[2], result: refused }])
  land(0)
  expect(await batch.takeEnded(1)).toEqual([{ attempt: all[0], result: deliveredAttempt }])
  expect(await batch.takeEnded(1)).toEqual([])
})

test('those that are waited for are taken as soon as the last has landed', async () => {
  const { batch, all, land } = sendAll(2)
  const taking = batch.takeEnded(muchLaterMs)
  land(1)
  await nextTurn()
  land(0)
  expect((await taking).map(({ attempt }) => attempt)).toEqual([all[1], all[0]])
  expect(await batch.takeEnded(muchLaterMs)).toEqual([])
})

test('nothing is waited for where all have landed as they were sent, or none was', async () => {
  const { batch, all, limiter } = sendAll(2, (_attempt, onEnd) => onEnd(deliveredAttempt))
  expect((await batch.takeEnded(muchLaterMs)).map(({ attempt }) => attempt)).toEqual(all)
  expect(limiter.taken).toBe(0)
  expect(batch.detach()).toEqual([])
  expect(await sendAll(0).batch.takeEnded(muchLaterMs)).toEqual([])
})

test('a place is given back as its delivery lands', () => {
  const { limiter, land } = sendAll(3)
  expect(limiter.taken).toBe(3)
  land(1)
  expect(limiter.taken).toBe(2)
  land(0)
  land(2)
  expect(limiter.taken).toBe(0)
})

test('those that are let go land by themselves, and are not taken with others; what had landed is among them', async () => {
  const { batch, all, limiter, land } = sendAll(3)
  land(1)
  const late = { ...deliveredAttempt, durationMs: 900 }
  const [landed, first, second, ...more] = batch.detach()
  expect([landed?.attempt, first?.attempt, second?.attempt, more]).toEqual([all[1], all[0], all[2], []])
  expect(await landed?.ending).toBe(deliveredAttempt)
  land(2, late)
  expect(await second?.ending).toBe(late)
  expect(limiter.taken).toBe(1)
  land(0)
  expect(await first?.ending).toBe(deliveredAttempt)
  expect(limiter.taken).toBe(0)
  expect(await batch.takeEnded(muchLaterMs)).toEqual([])
})
