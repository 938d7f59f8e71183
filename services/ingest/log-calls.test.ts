import { expect, test } from '@jest/globals'
import { namePeriod } from './log-calls.ts'

test.each([
  ['2026-11-01T00:00:00.000Z', 'for November 2026'],
  ['2026-11-15T10:00:00.000Z', 'since 2026-11-15T10:00:00.000Z'],
  ['2026-11-01T00:00:01.000Z', 'since 2026-11-01T00:00:01.000Z'],
])('from %s on: %s', (start, name) => {
  expect(namePeriod(Date.parse(start))).toBe(name)
})
