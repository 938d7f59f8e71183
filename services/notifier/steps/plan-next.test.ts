import { expect, test } from '@jest/globals'
import { webhookDelivery } from '../testing/sample-records.ts'
import { isLastAttempt, planNext } from './plan-next.ts'

const failure = { failedAtMs: 10_000, error: 'the receiver answered 500', isLast: false }

test.each([
  ['the first attempt', 1, 1, 'deliveryRetry1s', 2, 11_001],
  ['the first retry', 2, 1, 'deliveryRetry2s', 3, 12_001],
  ['the second retry', 3, 1, 'deliveryRetry4s', 4, 14_001],
  ['the first attempt of a replay', 5, 5, 'deliveryRetry1s', 6, 11_001],
])('%s goes on', (_name, attempt, first_attempt, topic, next, due_at) => {
  const delivery = webhookDelivery({ attempt, first_attempt })
  expect(isLastAttempt(delivery, 'webhook')).toBe(false)
  expect(planNext(delivery, failure)).toEqual({
    topic,
    delivery: { ...delivery, attempt: next, due_at, last_error: failure.error },
  })
})

test.each([
  ['the third retry', 4, 1],
  ['the third retry of a replay', 8, 5],
  ['a failure that ends it', 1, 1],
])('%s is the end', (_name, attempt, first_attempt) => {
  const delivery = webhookDelivery({ attempt, first_attempt })
  expect(isLastAttempt(delivery, 'webhook')).toBe(attempt - first_attempt === 3)
  expect(planNext(delivery, { ...failure, isLast: true })).toEqual({
    topic: 'deliveryDead',
    delivery: { ...delivery, last_error: failure.error },
  })
})

const minuteMs = 60_000

test.each([
  ['the third retry', 4, null, minuteMs],
  ['a pause of a minute', 5, null, 5 * minuteMs],
  ['a pause of a day', 12, null, 24 * 60 * minuteMs],
  ['a first attempt that was asked to wait', 1, 90_000, 90_000],
  ['a first attempt that was asked to wait a week', 1, 7 * 24 * 60 * minuteMs, 24 * 60 * minuteMs],
  ['a pause longer than it was asked for', 5, 1_000, 5 * minuteMs],
])('a destination goes on after %s', (_name, attempt, retryAfterMs, waitMs) => {
  const delivery = webhookDelivery({ attempt, first_attempt: 1 })
  expect(isLastAttempt(delivery, 'slack')).toBe(false)
  expect(planNext(delivery, { ...failure, retryAfterMs })).toEqual({
    waitMs,
    delivery: {
      ...delivery,
      attempt: attempt + 1,
      due_at: failure.failedAtMs + waitMs,
      last_error: failure.error,
    },
  })
})

test('a destination ends after four days', () => {
  const attempts = Array.from({ length: 20 }, (_, index) =>
    webhookDelivery({ attempt: index + 1, first_attempt: 1 }),
  )
  const lasting = attempts.filter((delivery) => !isLastAttempt(delivery, 'email'))
  const waitedMs = lasting.map((delivery) => {
    const next = planNext(delivery, failure)
    return 'waitMs' in next ? next.waitMs : 0
  })
  expect(lasting).toHaveLength(13)
  expect(waitedMs.reduce((sum, one) => sum + one) / (24 * 60 * minuteMs)).toBeCloseTo(4, 0)
})
