import { expect, test } from '@jest/globals'
import { isoText, localText } from './local-time.ts'
import { showTimesIn } from './zone.ts'

test.each(['2026-11-21T20:17:05.000Z', '2026-03-29T00:59:59.000Z', '2024-02-29T23:00:00.000Z'])(
  '%s is the same time again',
  (iso) => {
    const local = localText(Date.parse(iso))
    expect(local).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(isoText(local)).toBe(iso)
  },
)

test('with times in UTC, what is typed is UTC', () => {
  showTimesIn('utc')
  expect(localText(Date.parse('2026-07-21T20:17:05.000Z'))).toBe('2026-07-21 20:17:05')
  expect(isoText('2026-07-21 20:17:05')).toBe('2026-07-21T20:17:05.000Z')
  showTimesIn('local')
})

test('what is not chosen is left out', () => {
  expect(isoText(null)).toBeUndefined()
})

test('what was not changed in the picker is the very time that it was filled with', () => {
  const filled = '2026-11-21T20:17:05.611Z'
  const other = localText(Date.parse('2026-11-21T20:18:00.000Z'))
  expect(isoText(localText(Date.parse(filled)), filled)).toBe(filled)
  expect(isoText(other, filled)).toBe('2026-11-21T20:18:00.000Z')
})
