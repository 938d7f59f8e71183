import { afterEach, expect, test } from '@jest/globals'
import { monthBefore, monthRange } from './calendar-months.ts'
import { showTimesIn } from './zone.ts'

afterEach(() => showTimesIn('local'))

const at = (...parts: [number, number, number]) => new Date(...parts).toISOString()

test('a month begins and ends where the reader’s calendar says, also around the turn of the year', () => {
  const january = new Date(2026, 0, 31, 23).getTime()
  expect(monthRange(january, 0)).toEqual({ start: at(2026, 0, 1), end: at(2026, 1, 1) })
  expect(monthRange(january, -1)).toEqual({ start: at(2025, 11, 1), end: at(2026, 0, 1) })
})

test.each([
  ['a month', at(2026, 2, 1), at(2026, 3, 1), at(2026, 1, 1)],
  ['31 days', at(2026, 1, 1), at(2026, 2, 4), undefined],
  ['an open range', at(2026, 1, 1), undefined, undefined],
])('what precedes %s', (_name, start, end, before) => {
  expect(monthBefore(start, end)).toBe(before)
})

test('where times are shown in UTC, months are months of UTC', () => {
  showTimesIn('utc')
  const newYear = Date.parse('2026-01-01T00:00:00.000Z')
  const december = { start: '2025-12-01T00:00:00.000Z', end: '2026-01-01T00:00:00.000Z' }
  expect([monthRange(newYear, -1), monthRange(newYear - 1, 0)]).toEqual([december, december])
  expect(monthBefore(december.start, december.end)).toBe('2025-11-01T00:00:00.000Z')
})
