import { expect, test } from '@jest/globals'
import { layOutWaterfall } from './lay-out-waterfall.ts'

const bars = (...calls: [startMs: number, latencyMs: number | null][]) =>
  layOutWaterfall(calls.map(([startMs, latencyMs]) => ({ startMs, latencyMs }))).map(
    ({ left, width, shortenedMs }) => [Math.round(left), Math.round(width), shortenedMs],
  )

test('calls stand where their time was, also at the same time', () => {
  expect(bars([1_000, 500], [1_500, 500], [1_600, 400])).toEqual([
    [0, 50, undefined],
    [50, 50, undefined],
    [60, 40, undefined],
  ])
})

test('a long wait is drawn shorter, and keeps its length in words', () => {
  expect(bars([0, 4_500], [3_604_500, 4_500])).toEqual([
    [0, 45, undefined],
    [55, 45, 3_600_000],
  ])
})

test('calls without a latency, or none at all', () => {
  expect(bars([5, null])).toEqual([[0, 100, undefined]])
  expect(bars()).toEqual([])
})
