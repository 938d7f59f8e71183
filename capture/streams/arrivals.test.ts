import { expect, test } from '@jest/globals'
import { createArrivals, endOfText } from './arrivals.ts'

test('a text has come with the chunk that has its end', () => {
  const arrivals = createArrivals()
  const bytes = Buffer.from('ab é cd')
  for (const [length, atMs] of [
    [3, 10],
    [2, 100],
    [2, 200],
    [1, 300],
  ] as const)
    arrivals.add(length, atMs)
  const timeOf = (text: string) => {
    const end = endOfText(text, bytes)
    return end === undefined ? undefined : arrivals.timeOf(end)
  }
  expect(['a', 'ab ', 'é', 'é ', 'cd', 'x'].map(timeOf)).toEqual([10, 10, 100, 200, 300, undefined])
  expect(arrivals.timeOf(9)).toBeUndefined()
})

test('of ten minutes of chunks few times are kept, each within a twentieth', () => {
  const arrivals = createArrivals()
  const lastMs = 600_000
  for (let atMs = 1; atMs <= lastMs; atMs++) arrivals.add(1, atMs)
  const times = Array.from({ length: lastMs }, (_, at) => arrivals.timeOf(at + 1) ?? 0)
  expect(times.findIndex((kept, at) => kept > at + 1 || kept < 0.95 * (at + 1) - 1)).toBe(-1)
  expect(new Set(times).size).toBeLessThan(250)
})
