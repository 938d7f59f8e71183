import { expect, test } from '@jest/globals'
import { formatDay, formatMoment, formatPoint, formatTime } from './format-time.ts'
import { showTimesIn } from './zone.ts'

// In whatever zone and locale the test runs.
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
  expect(formatPoint(time, stepHours) !== formatDay(time)).toBe(hasTime)
})

test('a time of another year is told from the same of this one', () => {
  const nowMs = Date.parse('2026-11-23T12:00:00Z')
  const [soon, later] = ['2026-12-01T12:00:00Z', '2027-12-01T12:00:00Z'].map((at) => formatTime(at, nowMs))
  expect(soon).not.toBe(later)
})

test('with times in UTC, a time and a day are those of UTC', () => {
  showTimesIn('utc')
  expect(formatMoment('2026-11-29T14:02:06.789Z')).toBe('29 Nov 2026, 14:02:06 UTC')
  expect(formatPoint('2026-11-29T00:00:00.000Z', 24)).toBe('29 Nov 2026')
  showTimesIn('local')
})
