import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { Release } from '../limits/wait-queue.ts'
import { createEndpointLimiter } from '../limits/endpoint-limiter.ts'
import { Flight, type PlacedDelivery } from './flight.ts'
import type { SendMessage } from '../sending/send-message.ts'
import { signingKeyOf } from '../steps/sign-delivery.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import { deliveredAttempt, webhook, webhookDelivery } from '../testing/sample-records.ts'

const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }
const message = { body: Buffer.from('{}'), isTest: false, keys }
/** No test waits so long: what would have to wait for it does not end. */
const muchLaterMs = 60_000

/** So many deliveries with a place each, in the air. */
function takeOff(count: number, sendMessage?: SendMessage) {
  const limiter = createEndpointLimiter({ perEndpoint: 1, total: 64 })
  const all = Array.from({ length: count }, (_none, eventIndex): PlacedDelivery => {
    const endpoint = webhook()
    const delivery = webhookDelivery({ webhook_id: endpoint.id })
    return {
      eventIndex,
      delivery,
      webhook: endpoint,
      message,
      release: limiter.acquireNow(delivery) as Release,
    }
  })
  const lands: ((attempt: FinishedAttempt) => void)[] = []
  const flight = new Flight(all, sendMessage ?? ((...[, , , onSent]) => lands.push(onSent)))
  const land = (index: number, attempt = deliveredAttempt) => lands[index]?.(attempt)
  return { flight, all, limiter, land }
}

test('each is sent as it is', () => {
  const sent: unknown[][] = []
  const { all } = takeOff(2, (...[delivery, endpoint, given]) => sent.push([delivery, endpoint, given]))
  expect(sent).toEqual(all.map((one) => [one.delivery, one.webhook, one.message]))
})

test('what has landed is taken once, as it ended', async () => {
  const { flight, all, land } = takeOff(3)
  const refused = { ...deliveredAttempt, statusCode: 500, error: 'refused' }
  land(2, refused)
  expect(await flight.takeLanded(1)).toEqual([{ placed: all[2], attempt: refused }])
  land(0)
  expect(await flight.takeLanded(1)).toEqual([{ placed: all[0], attempt: deliveredAttempt }])
  expect(await flight.takeLanded(1)).toEqual([])
})

test('those that are waited for are taken as soon as the last has landed', async () => {
  const { flight, all, land } = takeOff(2)
  const taking = flight.takeLanded(muchLaterMs)
  land(1)
  await nextTurn()
  land(0)
  expect((await taking).map(({ placed }) => placed)).toEqual([all[1], all[0]])
  expect(await flight.takeLanded(muchLaterMs)).toEqual([])
})

test('nothing is waited for where all have landed as they were sent, or none was', async () => {
  const { flight, all, limiter } = takeOff(2, (...[, , , onSent]) => onSent(deliveredAttempt))
  expect((await flight.takeLanded(muchLaterMs)).map(({ placed }) => placed)).toEqual(all)
  expect(limiter.taken).toBe(0)
  expect(flight.letGo()).toEqual([])
  expect(await takeOff(0).flight.takeLanded(muchLaterMs)).toEqual([])
})

test('a place is given back as its delivery lands', () => {
  const { limiter, land } = takeOff(3)
  expect(limiter.taken).toBe(3)
  land(1)
  expect(limiter.taken).toBe(2)
  land(0)
  land(2)
  expect(limiter.taken).toBe(0)
})

test('those that are let go land by themselves, and are not taken with others; what had landed is among them', async () => {
  const { flight, all, limiter, land } = takeOff(3)
  land(1)
  const late = { ...deliveredAttempt, durationMs: 900 }
  const [landed, first, second, ...more] = flight.letGo()
  expect([landed?.placed, first?.placed, second?.placed, more]).toEqual([all[1], all[0], all[2], []])
  expect(await landed?.landing).toBe(deliveredAttempt)
  land(2, late)
  expect(await second?.landing).toBe(late)
  expect(limiter.taken).toBe(1)
  land(0)
  expect(await first?.landing).toBe(deliveredAttempt)
  expect(limiter.taken).toBe(0)
  expect(await flight.takeLanded(muchLaterMs)).toEqual([])
})
