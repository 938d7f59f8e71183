import { expect, test } from '@jest/globals'
import { SlowPace } from './slow-pace.ts'

function setPace(permits: number) {
  const time = { nowMs: 1_000 }
  const pace = new SlowPace({ permits, overMs: 8_000, now: () => time.nowMs })
  /** As many as may, after so long. */
  const begin = (afterMs: number): number => {
    time.nowMs += afterMs
    const max = pace.max()
    for (let index = 0; index < max; index++) pace.begun()
    return max
  }
  return { pace, begin }
}

test('places fill bit by bit, all of them in their time, whatever the steps', () => {
  const { begin } = setPace(512)
  const atOnce = begin(0)
  expect(atOnce).toBeLessThanOrEqual(16)
  expect(begin(0)).toBe(0)
  let begun = 0
  for (let step = 0; step < 320; step++) begun += begin(25)
  expect(begun).toBe(512)
})

test.each([64, 512, 5_000])('rounds that take their time fill all of %s places too', (permits) => {
  const { begin } = setPace(permits)
  let begun = 0
  for (let step = 0; step < 40; step++) begun += begin(220)
  expect(begun).toBeGreaterThanOrEqual(permits)
})

test('what was not begun for a while does not begin all at once then', () => {
  const { pace, begin } = setPace(512)
  const atOnce = begin(0)
  expect(begin(3_600_000)).toBe(atOnce)
  for (let ended = 0; ended < 100; ended++) pace.endedEarly()
  // A round that found nothing for them.
  pace.wasEnough()
  expect(begin(3_600_000)).toBe(atOnce)
})

test('where an attempt ended early another begins at once beside those that are due; no more than there are places', () => {
  const { pace, begin } = setPace(16)
  begin(0)
  for (let ended = 0; ended < 5; ended++) pace.endedEarly()
  expect(begin(1_000)).toBe(5 + 2)
  for (let ended = 0; ended < 100; ended++) pace.endedEarly()
  expect(begin(0)).toBe(16)
})
