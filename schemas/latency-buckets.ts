/**
 * The latency histogram of the roll-ups: 40 buckets whose bounds grow by √2 from 1 ms to 2^19 ms (nearly nine
 * minutes). Any percentile is known within 20%, and the 40 numbers add up over hours and projects. Never
 * changed: the migration of the roll-ups has a column for each.
 */
export const latencyBucketCount = 40

/**
 * Start of each bucket but the first, in ms: bucket `i` holds latencies from `bounds[i - 1]` up to, without,
 * `bounds[i]`.
 */
export const latencyBounds: readonly number[] = Array.from(
  { length: latencyBucketCount - 1 },
  (_, index) => 2 ** (index / 2),
)

/** The column of a bucket in `call_rollups`: `latency_00` to `latency_39`. */
export function latencyColumn(bucket: number): string {
  return `latency_${String(bucket).padStart(2, '0')}`
}

/** The bucket of a latency. */
export function latencyBucketOf(latencyMs: number): number {
  let low = 0
  let high = latencyBounds.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((latencyBounds[middle] as number) <= latencyMs) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The latency below which `share` (0 to 1) of the counted calls lie, interpolated in its bucket; null without
 * calls.
 */
export function latencyPercentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= share * total) {
      const from = latencyBounds[bucket - 1] ?? 0
      // The last bucket has no upper bound, so its lower bound is the answer.
      const to = latencyBounds[bucket] ?? from
      return from + ((to - from) * Math.max(0, share * total - below)) / count
    }
    below += count
  }
  return null
}
