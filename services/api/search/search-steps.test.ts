import { expect, test } from '@jest/globals'
import type { SliceRange } from '../stores/search-store.ts'
import { batchesOf, daysOf, slicesOf, withoutKeys } from './search-steps.ts'

const at = (text: string) => Date.parse(text)

test('a range is read by days, newest first, and nothing twice', () => {
  const days = [...daysOf(at('2026-11-01T06:00Z'), at('2026-11-03T00:00Z'))]
  expect(
    days.map(({ fromMs, toMs }) => [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(5, 13))),
  ).toEqual([
    ['11-02T00', '11-03T00'],
    ['11-01T06', '11-02T00'],
  ])
  expect([...daysOf(5, 5)]).toEqual([])
})

test('slices follow each other to the end of the day, and grow while they are fast', async () => {
  const asked: SliceRange[] = []
  let nowMs = 0
  const readSlice = (range: SliceRange) => {
    asked.push(range)
    const lookedAt = asked.length < 8 ? range.limit : asked.length === 8 ? 3 : 0
    nowMs += asked.length === 4 ? 1_000 : 10
    return Promise.resolve({
      lookedAt,
      unsigned: 0,
      candidates: [],
      last: lookedAt === 0 ? null : `${asked.length}`,
    })
  }
  const slices = await Array.fromAsync(
    slicesOf(readSlice, { startMs: 0, endMs: 10, before: '0' }, () => nowMs),
  )
  expect(asked.map(({ limit }) => limit)).toEqual([500, 1_000, 2_000, 4_000, 2_000, 4_000, 8_000, 16_000])
  expect(asked.map(({ before }) => before)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
  expect(slices.map(({ last }) => last)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
})

test('batches keep both limits, but for what is larger alone', () => {
  const sizes = [4, 4, 20, 1, 1, 1, 1].map((bytes) => ({ bytes }))
  const batches = batchesOf(sizes, { maxCount: 3, maxBytes: 10 })
  expect(batches.map((batch) => batch.map(({ bytes }) => bytes))).toEqual([[4, 4], [20], [1, 1, 1], [1]])
  expect(batchesOf([], { maxCount: 1, maxBytes: 1 })).toEqual([])
})

test.each([
  ['"the key" sk-live-4eC39HqLyjWDarjt', '"the key" sk-live-…'],
  ['"sk-live-4eC39HqLyjWDarjt twice"', '"sk-live-… twice"'],
  ['internationalisation 4711', 'internationalisation 4711'],
  ['🙂🙂🙂🙂🙂🙂🙂🙂🙂1🙂🙂🙂🙂🙂🙂🙂', '🙂🙂🙂🙂🙂🙂🙂🙂…'],
])('the audit log has no key: %s', (text, noted) => {
  expect(withoutKeys(text)).toBe(noted)
})
