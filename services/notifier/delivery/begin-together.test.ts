import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { ok } from '#runtime/outcome.ts'
import type { FirstDelivery } from './begin-together.ts'
import { decided, patienceMs, type AttemptEnd } from './make-attempt.ts'
import { deliveredAttempt, webhook } from '../testing/sample-records.ts'
import { first, idsOf, keys, message, setOutTogether, untilMs } from '../testing/set-out-together.ts'
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

function endsOf(all: readonly FirstDelivery[], ended: ReadonlyMap<string, boolean>): unknown[] {
  return idsOf(all).map((id) => ended.get(id))
}

test('each gets its place, and the keys that its message is signed with', () => {
  const { together, limiter } = setOutTogether()
  const firsts = [first(), first()]
  expect(together.place(firsts)).toEqual(
    firsts.map((one) => ({ ...one, message: { ...message, keys }, release: expect.any(Function) })),
  )
  expect(limiter.taken).toBe(2)
})

const sealed = webhook()

test.each<[string, (one: FirstDelivery, of: ReturnType<typeof setOutTogether>) => void]>([
  ['has no place', ({ delivery }, { limiter }) => limiter.holdBack(delivery)],
  [
    'was sent and is not written',
    ({ delivery }, { unwritten }) => unwritten.add(attemptName(delivery), deliveredAttempt),
  ],
  ['cannot be signed', (one) => (one.webhook = sealed)],
])('where one delivery of an event %s, none of the event keeps a place', (_name, spoil) => {
  const setup = setOutTogether({
    openSecrets(one) {
      if (one === sealed) throw new PermanentError('CANNOT_OPEN', 'sealed')
      return keys
    },
  })
  const [one, other, third] = [first(), first(), first()]
  spoil(other, setup)
  expect(setup.together.place([one, other, third])).toBeUndefined()
  expect(setup.limiter.taken).toBe(0)
})

test('what is not ours, or could not be asked for, is not sent', async () => {
  const { begin, limiter, sent, ended } = setOutTogether({ begun: [false, true, away] })
  const firsts = [first(), first(), first()]
  await begin(firsts)
  expect(sent).toEqual(idsOf(firsts).slice(1, 2))
  expect(endsOf(firsts, ended)).toEqual([false, true, false])
  expect(limiter.taken).toBe(0)
})

test('what cannot be sent for a mistake of ours keeps no place, and nobody from being sent', async () => {
  let calls = 0
  const { begin, limiter, ended } = setOutTogether({
    sendMessage(...[, , , onSent]) {
      if (calls++ === 0) throw new TypeError('ours')
      onSent(deliveredAttempt)
    },
  })
  const firsts = [first(), first()]
  await begin(firsts)
  expect(endsOf(firsts, ended)).toEqual([false, true])
  expect(limiter.taken).toBe(0)
})

test('successes are written together; a failure, or a success of a webhook that failed before, has more to follow', async () => {
  const { begin, finished, made, unwritten, ended } = setOutTogether({
    ends: [deliveredAttempt, refusedAttempt, deliveredAttempt, deliveredAttempt],
  })
  const firsts = [first(), first(), first({ isFailing: true }), first()] as const
  await begin(firsts)
  const [one, refused, failing, other] = firsts
  expect(finished).toEqual([one, other].map(({ delivery }) => ({ delivery, attempt: deliveredAttempt })))
  expect(made).toEqual([
    { delivery: refused.delivery, webhook: refused.webhook, what: refusedAttempt, untilMs, isAlone: false },
    { delivery: failing.delivery, webhook: failing.webhook, what: deliveredAttempt, untilMs, isAlone: false },
  ])
  expect(endsOf(firsts, ended)).toEqual([true, true, true, true])
  expect(unwritten.find(attemptName(one.delivery))).toBeUndefined()
})

test('a success that could not be written is kept, so that it is not sent again', async () => {
  const { begin, unwritten, ended } = setOutTogether({ written: [null, away] })
  const firsts = [first(), first()]
  await begin(firsts)
  expect(endsOf(firsts, ended)).toEqual([true, false])
  const kept = firsts.map(({ delivery }) => unwritten.find(attemptName(delivery)))
  expect(kept).toEqual([undefined, deliveredAttempt])
})

test('a failure from which nothing could follow is tried again; the others are over', async () => {
  const firsts = [first(), first(), first()] as const
  const { begin, finished, ended } = setOutTogether({
    ends: [refusedAttempt, deliveredAttempt, refusedAttempt],
    make: ({ delivery }) =>
      delivery === firsts[0].delivery ? Promise.reject(away) : Promise.resolve(decided(ok())),
  })
  await begin(firsts)
  expect(endsOf(firsts, ended)).toEqual([false, true, true])
  expect(finished).toEqual([{ delivery: firsts[1].delivery, attempt: deliveredAttempt }])
})

test('what has landed is written while others are waited for', async () => {
  const { begin, finished, letGo, lands, ended } = setOutTogether({ ends: [deliveredAttempt] })
  const firsts = [first(), first()]
  const begun = begin(firsts)
  await pass(patienceMs - 1)
  expect(finished).toHaveLength(1)
  expect(endsOf(firsts, ended)).toEqual([true, undefined])
  lands[1]?.(deliveredAttempt)
  await begun
  expect(finished).toHaveLength(2)
  expect(endsOf(firsts, ended)).toEqual([true, true])
  expect(letGo).toEqual([])
})

test('an attempt at a slow receiver is let go on, and concluded when it lands, as nobody asks for it any more', async () => {
  const { begin, limiter, finished, letGo, made, lands, ended } = setOutTogether({ ends: [deliveredAttempt] })
  const firsts = [first(), first()] as const
  const begun = begin(firsts)
  await pass(patienceMs + 1)
  await begun
  const [, slow] = firsts
  expect(letGo).toEqual([slow.delivery.delivery_id])
  expect(endsOf(firsts, ended)).toEqual([true, true])
  expect({ made, taken: limiter.taken }).toEqual({ made: [], taken: 1 })
  lands[1]?.(deliveredAttempt)
  await nextTurn()
  const { delivery, webhook: endpoint } = slow
  expect(made).toEqual([{ delivery, webhook: endpoint, what: deliveredAttempt, untilMs, isAlone: true }])
  expect({ finished: finished.length, taken: limiter.taken }).toEqual({ finished: 1, taken: 0 })
})

test('an attempt that could not be set aside is asked for again, though it goes on', async () => {
  const { begin, made, lands, ended } = setOutTogether({
    ends: [],
    letGoOn: () => Promise.reject(away),
  })
  const firsts = [first()]
  const begun = begin(firsts)
  await pass(patienceMs + 1)
  await begun
  expect(endsOf(firsts, ended)).toEqual([false])
  lands[0]?.(refusedAttempt)
  await nextTurn()
  expect(made).toMatchObject([{ what: refusedAttempt, isAlone: true }])
})

test('what lands while the ends of others are being written is not lost', async () => {
  const writing = Promise.withResolvers<AttemptEnd>()
  const { begin, lands, made, ended } = setOutTogether({
    ends: [refusedAttempt],
    make: () => writing.promise,
  })
  const firsts = [first(), first()]
  const begun = begin(firsts)
  await pass(patienceMs + 1)
  lands[1]?.(deliveredAttempt)
  await nextTurn()
  expect(made).toMatchObject([{ what: refusedAttempt }, { what: deliveredAttempt, isAlone: true }])
  writing.resolve(decided(ok()))
  await begun
  expect(endsOf(firsts, ended)).toEqual([true, true])
})
