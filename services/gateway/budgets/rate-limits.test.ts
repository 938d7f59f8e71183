import { expect, test } from '@jest/globals'
import { createRateLimits } from './rate-limits.ts'

test('a minute’s calls may come at once; then they come back evenly', () => {
  let nowMs = 0
  const wait = createRateLimits(() => nowMs)
  expect(Array.from({ length: 5 }, () => wait('a', 4))).toEqual([0, 0, 0, 0, 15])
  expect(wait('b', 4)).toBe(0)
  nowMs += 14_000
  expect(wait('a', 4)).toBe(1)
  nowMs += 1_000
  expect([wait('a', 4), wait('a', 4)]).toEqual([0, 15])
  nowMs += 3_600_000
  expect(Array.from({ length: 5 }, () => wait('a', 4))).toEqual([0, 0, 0, 0, 15])
})

test('a clock that is set back gives nothing and takes nothing', () => {
  let nowMs = 100_000
  const wait = createRateLimits(() => nowMs)
  expect(wait('a', 1)).toBe(0)
  nowMs = 0
  expect(wait('a', 1)).toBe(60)
  nowMs += 60_000
  expect(wait('a', 1)).toBe(0)
})
