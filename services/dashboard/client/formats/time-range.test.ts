import { expect, test } from '@jest/globals'
import { periodBefore, rangeAround, readRange } from './time-range.ts'

const now = Date.parse('2026-11-21T20:17:31Z')
const day = { preset: '24h', start: '2026-11-20T20:00:00.000Z', end: undefined }

test.each([
  ['nothing is the fallback', {}, day],
  ['a preset', { range: '7d' }, { preset: '7d', start: '2026-11-14T20:00:00.000Z', end: undefined }],
  [
    'an hour, in steps of five minutes',
    { range: '1h' },
    { preset: '1h', start: '2026-11-21T19:15:00.000Z', end: undefined },
  ],
  ['a name that only objects know', { range: 'constructor' }, day],
  [
    'a start with a zone',
    { start: '2026-11-01T00:00:00+02:00' },
    { preset: null, start: '2026-10-31T22:00:00.000Z', end: undefined },
  ],
  [
    'times win over a preset',
    { range: '7d', end: '2026-11-02T00:00:00Z' },
    { preset: null, start: undefined, end: '2026-11-02T00:00:00.000Z' },
  ],
  ['what is no time', { start: 'yesterday' }, day],
])('%s', (_name, texts, expected) => {
  expect(readRange(texts, '24h', now)).toEqual(expected)
})

test('around what is long past a range ends; around what is recent it goes on', () => {
  const at = (day: string) => ({ from: `2026-11-${day}T12:00:00.000Z`, to: `2026-11-${day}T13:00:00.000Z` })
  expect(rangeAround(at('01'), 3_600_000, now)).toEqual({
    start: '2026-11-01T11:00:00.000Z',
    end: '2026-11-01T14:00:00.000Z',
  })
  expect(rangeAround(at('21'), 86_400_000, now)).toEqual({ start: '2026-11-20T12:00:00.000Z' })
})

test.each([
  ['a preset', day.start, { range: '24h' }, '2026-11-19T20:00:00.000Z'],
  [
    'two times',
    '2026-11-02T00:00:00.000Z',
    { start: '2026-11-02', end: '2026-11-05' },
    '2026-10-30T00:00:00.000Z',
  ],
  [
    'an open one, to the hour',
    '2026-11-21T18:00:00.000Z',
    { start: '2026-11-21T18:00Z' },
    '2026-11-21T15:00:00.000Z',
  ],
])('the period before %s is as long', (_name, end, texts, start) => {
  expect(periodBefore(readRange(texts, '24h', now), now)).toEqual({ start, end })
})

test('there is none before a range without a start', () => {
  expect(periodBefore(readRange({ end: '2026-11-02' }, '24h', now), now)).toBeUndefined()
})
