import { expect, test } from '@jest/globals'
import { monthBefore, monthRange } from './calendar-months.ts'

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
