import { expect, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { createBeginFixture, first, type BeginOptions } from '../testing/begin-fixture.ts'
import { deliveredAttempt } from '../testing/sample-records.ts'
import { attemptName } from './unwritten-attempts.ts'

const one = first()
const { delivery_id: id } = one.delivery

/** One delivery, and where it went. */
function deliverOne(options: BeginOptions = {}) {
  const fixture = createBeginFixture(options)
  return { ...fixture, start: () => fixture.deliver(one) }
}

test('what was written is made with its permit', async () => {
  const taken: number[] = []
  const { start, limiter, done } = deliverOne({
    sendMessage(...[, , , onSent]) {
      taken.push(limiter.taken)
      onSent(deliveredAttempt)
    },
  })
  await start()
  expect({ taken, left: limiter.taken }).toEqual({ taken: [1], left: 0 })
  expect(done).toMatchObject({ finished: [[{ id }]], published: [], waiting: [] })
})

test('what was there already, or has no permit, is asked for by a record, and the permit is released', async () => {
  const { start, limiter, done } = deliverOne({ beginAll: () => Promise.resolve([false]) })
  await start()
  expect({ sent: done.sent, taken: limiter.taken }).toEqual({ sent: [], taken: 0 })
  expect(done).toMatchObject({ inserted: [id], published: [`deliveryDue ${id}`] })
  limiter.holdBack(one.delivery)
  await start()
  expect(done.published).toHaveLength(2)
  // Most of what slow endpoints are sent: a record would only be read to be set aside.
  limiter.note(one.webhook.id, true)
  await start()
  expect(done).toMatchObject({ waiting: [id], published: { length: 2 } })
})

test('a store that is away keeps no permit', async () => {
  const { start, limiter, done } = deliverOne({
    beginAll: () => Promise.resolve([new TransientError('AWAY', 'away')]),
  })
  await expect(start()).rejects.toThrow('away')
  expect({ sent: done.sent, taken: limiter.taken }).toEqual({ sent: [], taken: 0 })
})

test('a secret that cannot be opened is left to the record that asks for it; a mistake of ours is not', async () => {
  const beginAll = () => Promise.reject(new Error('nothing may be written'))
  const sealed = deliverOne({
    beginAll,
    openSecrets() {
      throw new PermanentError('CANNOT_OPEN', 'sealed')
    },
  })
  await sealed.start()
  expect(sealed.done.published).toEqual([`deliveryDue ${id}`])
  expect(sealed.limiter.taken).toBe(0)
  const mistaken = deliverOne({
    beginAll,
    openSecrets() {
      throw new TypeError('ours')
    },
  })
  await expect(mistaken.start()).rejects.toThrow(TypeError)
})

test('what was sent and is not written is written here, not asked for: another notifier would send it again', async () => {
  const { start, unwritten, limiter, done } = deliverOne({
    beginAll: () => Promise.reject(new Error('nothing is begun')),
  })
  unwritten.add(attemptName(one.delivery), deliveredAttempt)
  await start()
  expect(done).toMatchObject({ sent: [], published: [], finished: [[{ id }]] })
  expect(limiter.taken).toBe(0)
})
