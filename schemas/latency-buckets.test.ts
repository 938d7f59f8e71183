import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { latencyBounds, latencyBucketCount, latencyBucketOf, latencyPercentile } from './latency-buckets.ts'

test.each([
  [0, 0],
  [0.99, 0],
  [1, 1],
  [2, 3],
  [600_000, latencyBucketCount - 1],
  [Number.MAX_VALUE, latencyBucketCount - 1],
])('%d ms is in bucket %d', (latencyMs, bucket) => {
  expect(latencyBucketOf(latencyMs)).toBe(bucket)
})

test('nothing counted has no percentile', () => {
  expect(latencyPercentile(new Array<number>(latencyBucketCount).fill(0), 0.5)).toBeNull()
})

test('a percentile from the buckets lies in the bucket of the true one', () => {
  const latency = fc.double({ min: 1, max: latencyBounds.at(-1) ?? 0, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(
      fc.array(latency, { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.95, 0.99),
      (latencies, share) => {
        const counts = new Array<number>(latencyBucketCount).fill(0)
        for (const latencyMs of latencies) {
          const bucket = latencyBucketOf(latencyMs)
          counts[bucket] = (counts[bucket] ?? 0) + 1
        }
        const sorted = latencies.toSorted((one, other) => one - other)
        const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0
        const bucket = latencyBucketOf(exact)
        const estimate = latencyPercentile(counts, share) ?? -1
        expect(estimate).toBeGreaterThanOrEqual(latencyBounds[bucket - 1] ?? 0)
        expect(estimate).toBeLessThanOrEqual(latencyBounds[bucket] ?? 0)
      },
    ),
  )
})
