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
  expect(isLastAttempt(delivery)).toBe(false)
  expect(planNext(delivery, failure)).toEqual({
    topic,
    delivery: { ...delivery, attempt: next, due_at, last_error: failure.error },
  })
})

test.each([
  ['the third retry', 4, 1, false],
  ['the third retry of a replay', 8, 5, false],
  ['a failure that ends it', 1, 1, true],
])('%s is the end', (_name, attempt, first_attempt, isLast) => {
  const delivery = webhookDelivery({ attempt, first_attempt })
  expect(isLastAttempt(delivery)).toBe(!isLast)
  expect(planNext(delivery, { ...failure, isLast })).toEqual({
    topic: 'deliveryDead',
    delivery: { ...delivery, last_error: failure.error },
  })
})
