import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { createBeginFixture, first, idsOf, keys, message } from '../testing/begin-fixture.ts'
import { deliveredAttempt, webhook } from '../testing/sample-records.ts'
import { askerWaitMs } from './attempt.ts'
import type { FirstDelivery } from './deliver-first.ts'
import { attemptName } from './unwritten-attempts.ts'

const refusedAttempt = { ...deliveredAttempt, statusCode: 500, error: 'refused' }
const away = new TransientError('AWAY', 'away')

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
})

afterEach(() => {
  jest.useRealTimers()
})

/** So long, a little at a time: each wait ends in a turn of its own, in which what has come is read. */
async function pass(forMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < forMs; passedMs++) {
    jest.advanceTimersByTime(1)
    await nextTurn()
  }
}

const written = ({ delivery }: FirstDelivery, error: string | null = null) => ({
  id: delivery.delivery_id,
  error,
})
const retryOf = ({ delivery }: FirstDelivery) => `deliveryRetry1s ${delivery.delivery_id}`

test('each gets its permit, and the keys that its message is signed with', () => {
  const { acquireAll, limiter } = createBeginFixture()
  const firsts = [first(), first()]
  expect(acquireAll(firsts)).toEqual(
    firsts.map(({ delivery, webhook: endpoint }) => ({
      delivery,
      webhook: endpoint,
      what: { ...message, keys },
      release: expect.any(Function),
    })),
  )
  expect(limiter.taken).toBe(2)
})

const sealed = webhook()

test.each<[string, (one: FirstDelivery, of: ReturnType<typeof createBeginFixture>) => void]>([
  ['has no permit', ({ delivery }, { limiter }) => limiter.holdBack(delivery)],
  [
    'was sent and is not written',
    ({ delivery }, { unwritten }) => unwritten.add(attemptName(delivery), deliveredAttempt),
  ],
  ['cannot be signed', (one) => (one.webhook = sealed)],
])('where one delivery of an event %s, none of the event keeps a permit', (_name, spoil) => {
  const fixture = createBeginFixture({
    openSecrets(one) {
      if (one === sealed) throw new PermanentError('CANNOT_OPEN', 'sealed')
      return keys
    },
  })
  const [one, other, third] = [first(), first(), first()]
  spoil(other, fixture)
  expect(fixture.acquireAll([one, other, third])).toBeUndefined()
  expect(fixture.limiter.taken).toBe(0)
})

test('what is not ours, or could not be claimed, is not sent', async () => {
  const { begin, limiter, done, endsOf } = createBeginFixture({
    beginAll: () => Promise.resolve([false, true, away]),
  })
  const firsts = [first(), first(), first()]
  await begin(firsts)
  expect(done.sent).toEqual(idsOf(firsts).slice(1, 2))
  expect(endsOf(firsts)).toEqual(['not_ours', 'made', away])
  expect(limiter.taken).toBe(0)
})

test('a claim that does not last for an attempt any more is not sent', async () => {
  const fixture = createBeginFixture({
    beginAll(all) {
      fixture.passLease()
      return Promise.resolve(all.map(() => true))
    },
  })
  const firsts = [first()]
  await fixture.begin(firsts)
  expect(fixture.endsOf(firsts)).toEqual(['not_ours'])
  expect({ sent: fixture.done.sent, taken: fixture.limiter.taken }).toEqual({ sent: [], taken: 0 })
})

test('what cannot be sent for a mistake of ours keeps no permit, and nobody from being sent', async () => {
  let calls = 0
  const fault = new TypeError('ours')
  const { begin, limiter, endsOf } = createBeginFixture({
    sendMessage(...[, , , onSent]) {
      if (calls++ === 0) throw fault
      onSent(deliveredAttempt)
    },
  })
  const firsts = [first(), first()]
  await begin(firsts)
  expect(endsOf(firsts)).toEqual([fault, 'made'])
  expect(limiter.taken).toBe(0)
})

test('successes are written together; a failure, or a success of a webhook that failed before, has more to follow', async () => {
  const { begin, done, unwritten, endsOf } = createBeginFixture({
    ends: [deliveredAttempt, refusedAttempt, deliveredAttempt, deliveredAttempt],
  })
  const firsts = [first(), first(), first({ isFailing: true }), first()] as const
  await begin(firsts)
  const [one, refused, failing, other] = firsts
  expect(done.finished).toEqual([
    [written(one), written(other)],
    [written(refused, 'refused')],
    [written(failing)],
  ])
  expect(done.published).toEqual([retryOf(refused)])
  expect(done.healed).toEqual([failing.webhook.id])
  expect(endsOf(firsts)).toEqual(['made', 'made', 'made', 'made'])
  for (const { delivery } of firsts) expect(unwritten.find(attemptName(delivery))).toBeUndefined()
})

test('a success that could not be written is kept, so that it is not sent again', async () => {
  const { begin, unwritten, endsOf } = createBeginFixture({ finishAll: () => Promise.resolve([null, away]) })
  const firsts = [first(), first()]
  await begin(firsts)
  expect(endsOf(firsts)).toEqual(['made', away])
  const kept = firsts.map(({ delivery }) => unwritten.find(attemptName(delivery)))
  expect(kept).toEqual([undefined, deliveredAttempt])
})

test('a failure from which nothing could follow is tried again; the others are over', async () => {
  let publishes = 0
  const firsts = [first(), first(), first()] as const
  const { begin, done, unwritten, endsOf } = createBeginFixture({
    ends: [refusedAttempt, deliveredAttempt, refusedAttempt],
    publish: () => (publishes++ === 0 ? Promise.reject(away) : Promise.resolve()),
  })
  await begin(firsts)
  expect(endsOf(firsts)).toEqual([away, 'made', 'made'])
  expect(done.published).toEqual([retryOf(firsts[2])])
  expect(unwritten.find(attemptName(firsts[0].delivery))).toBe(refusedAttempt)
})

test('what has landed is written while others are waited for', async () => {
  const { begin, done, lands, endsOf } = createBeginFixture({ ends: [deliveredAttempt] })
  const firsts = [first(), first()]
  const begun = begin(firsts)
  await pass(askerWaitMs - 1)
  expect(done.finished).toHaveLength(1)
  expect(endsOf(firsts)).toEqual(['made', undefined])
  lands[1]?.(deliveredAttempt)
  await begun
  expect(done.finished).toHaveLength(2)
  expect(endsOf(firsts)).toEqual(['made', 'made'])
  expect(done.aside).toEqual([])
})

test('an attempt at a slow receiver is let go on, and concluded when it lands, as nobody asks for it any more', async () => {
  let tries = 0
  const { begin, limiter, done, lands, endsOf } = createBeginFixture({
    ends: [deliveredAttempt],
    finishAll: (ended) => Promise.resolve(ended.map(() => (tries++ === 1 ? away : null))),
  })
  const firsts = [first(), first()] as const
  const begun = begin(firsts)
  await pass(askerWaitMs + 1)
  await begun
  const [, slow] = firsts
  expect(done.aside).toEqual([slow.delivery.delivery_id])
  expect(endsOf(firsts)).toEqual(['made', 'made'])
  expect({ finished: done.finished.length, taken: limiter.taken }).toEqual({ finished: 1, taken: 1 })
  lands[1]?.(deliveredAttempt)
  await nextTurn()
  // The second try, because no record asks for the attempt again.
  expect(done.finished.slice(1)).toEqual([[written(slow)], [written(slow)]])
  expect({ removed: done.removed, taken: limiter.taken }).toEqual({ removed: done.aside, taken: 0 })
})

test('an attempt that could not be set aside is asked for again, though it goes on', async () => {
  const { begin, done, lands, endsOf } = createBeginFixture({
    ends: [],
    addWaiting: () => Promise.reject(away),
  })
  const firsts = [first()] as const
  const begun = begin(firsts)
  await pass(askerWaitMs + 1)
  await begun
  expect(endsOf(firsts)).toEqual([away])
  lands[0]?.(refusedAttempt)
  await nextTurn()
  expect(done.finished).toEqual([[written(firsts[0], 'refused')]])
  expect(done.published).toEqual([retryOf(firsts[0])])
})

test('what lands while the ends of others are being written is not lost', async () => {
  const writing = Promise.withResolvers<null[]>()
  const { begin, lands, done, endsOf } = createBeginFixture({
    ends: [refusedAttempt],
    finishAll: ([one]) => (one?.attempt.error === null ? Promise.resolve([null]) : writing.promise),
  })
  const firsts = [first(), first()] as const
  const begun = begin(firsts)
  await pass(askerWaitMs + 1)
  lands[1]?.(deliveredAttempt)
  await nextTurn()
  expect(done.finished).toEqual([[written(firsts[0], 'refused')], [written(firsts[1])]])
  writing.resolve([null])
  await begun
  expect(endsOf(firsts)).toEqual(['made', 'made'])
})
