import { expect, test } from '@jest/globals'
import { wilsonInterval } from './wilson-interval.ts'

// Computed with R: prop.test(x, n, correct = FALSE).
test.each([
  [0, 10, 0, 0.2775],
  [10, 10, 0.7225, 1],
  [1, 10, 0.0179, 0.4042],
  [50, 100, 0.4038, 0.5962],
  [15, 148, 0.0624, 0.1605],
])('%d of %d', (hits, total, low, high) => {
  const interval = wilsonInterval(hits, total)
  expect(interval?.rate).toBe(hits / total)
  expect(interval?.low).toBeCloseTo(low, 4)
  expect(interval?.high).toBeCloseTo(high, 4)
})

test('of nothing nothing is known', () => {
  expect(wilsonInterval(0, 0)).toBeNull()
})

test.each([1, 3, 7, 10, 49, 148, 1_000])(
  'none and all of %d end in exactly nothing and everything',
  (total) => {
    expect([wilsonInterval(0, total)?.low, wilsonInterval(total, total)?.high]).toEqual([0, 1])
  },
)
