import { expect, test } from '@jest/globals'
import { webhookDelivery } from '../testing/sample-records.ts'
import { createDueTimes } from './read-due-time.ts'

const hourMs = 3_600_000
const nowMs = 10 * hourMs
/** `attempt` 2 waits 1 s, 3 waits 2 s. */
const retryAt = (due_at: number, attempt = 2) => webhookDelivery({ attempt, first_attempt: 1, due_at })

function dueTimes() {
  const time = { nowMs }
  return { time, dueOf: createDueTimes({ now: () => time.nowMs, sleep: () => Promise.resolve() }) }
}

test.each([
  ['a retry that was just planned', nowMs + 1_001, nowMs + 1_001],
  ['one that waited', nowMs - 5_000, nowMs - 5_000],
  ['one of a notifier that is behind', nowMs - hourMs, nowMs - hourMs],
  ['one of a notifier that is ahead', nowMs + hourMs, nowMs + 1_001],
])('%s', (_name, due_at, expected) => {
  expect(dueTimes().dueOf(retryAt(due_at))).toBe(expected)
})

test('what a notifier wrote while it was ahead keeps its spacing, and holds nobody up', () => {
  const { time, dueOf } = dueTimes()
  const first = nowMs + hourMs
  expect(dueOf(retryAt(first))).toBe(nowMs + 1_001)
  time.nowMs += 1_001
  expect(dueOf(retryAt(first + 200))).toBe(nowMs + 1_201)
  // Its clock is right again.
  expect(dueOf(retryAt(time.nowMs + 2_001, 3))).toBe(time.nowMs + 2_001)
})

test('after an hour, some milliseconds between two hosts shorten no delay', () => {
  const { time, dueOf } = dueTimes()
  dueOf(retryAt(nowMs + hourMs))
  expect(dueOf(retryAt(nowMs + 1_020))).toBe(nowMs + 1_001)
  time.nowMs += 10_000
  expect(dueOf(retryAt(time.nowMs + 2_030, 3))).toBe(time.nowMs + 2_001)
})
