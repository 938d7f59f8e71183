import { expect, test } from '@jest/globals'
import { timeField } from './fields.ts'

test.each([
  ['2026-11-21', Date.UTC(2026, 10, 21)],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
  ['2026-11-21T09:30:00Z', Date.UTC(2026, 10, 21, 9, 30)],
  ['2026-11-21T09:30:00.123+01:00', Date.UTC(2026, 10, 21, 8, 30, 0, 123)],
])('%s is a time', (text, timeMs) => {
  expect(timeField.parse(text)).toBe(timeMs)
})

test.each([
  'yesterday',
  '2026-13-01',
  '2026-02-30',
  '2026-04-31T12:00:00+02:00',
  '2026-11-21T09:30:00',
  '1790000000',
  '2026-11-21T25:00:00Z',
  '',
])('%s is none', (text) => {
  expect(timeField.safeParse(text).success).toBe(false)
})
