/**
 * The latency histogram of the roll-ups: 40 buckets whose bounds grow by √2 from 1 ms to 2^19 ms (nearly nine minutes), so that any percentile is
 * known within 20% from 40 numbers that can be added up over hours and projects. The migration of the roll-ups has a column for each: never changed.
 */
export const latencyBucketCount = 40

/** Where each bucket but the first begins, in milliseconds: bucket `i` holds latencies from `bounds[i - 1]` up to, without, `bounds[i]`. */
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

/** The latency below which `share` (0 to 1) of the counted calls lie, interpolated within its bucket; null when none are counted. */
export function latencyPercentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= share * total) {
      const from = latencyBounds[bucket - 1] ?? 0
      // Nobody knows how far the last bucket reaches: its lower bound is what can be vouched for.
      const to = latencyBounds[bucket] ?? from
      return from + ((to - from) * Math.max(0, share * total - below)) / count
    }
    below += count
  }
  return null
}
