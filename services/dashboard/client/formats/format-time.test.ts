import { expect, test } from '@jest/globals'
import { formatPoint } from './format-time.ts'

// By the zone that this runs in, whichever it is.
const midnight = new Date(2026, 10, 21).toISOString()
const inTheEvening = new Date(2026, 10, 20, 19).toISOString()

test.each([
  ['a day that begins at midnight is its date', midnight, 24, false],
  [
    'one that begins in the evening, as a day of UTC does in New York, is not the date before',
    inTheEvening,
    24,
    true,
  ],
  ['an hour has its time', midnight, 1, true],
])('%s', (_name, time, stepHours, hasTime) => {
  expect(/\d\d:\d\d/.test(formatPoint(time, stepHours))).toBe(hasTime)
})
