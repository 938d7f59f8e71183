const minuteMs = 60_000
/** Keys whose calls are counted at a time; the one that called longest ago goes first. */
const maxKeys = 10_000

interface Bucket {
  calls: number
  atMs: number
}

/**
 * Returns how many seconds a key's call has to wait; 0: it may go. A key may use its calls of a minute at
 * once; they come back evenly.
 */
export type RateLimits = (keyId: string, perMinute: number) => number

export function createRateLimits(now: () => number): RateLimits {
  const buckets = new Map<string, Bucket>()
  return (keyId, perMinute) => {
    const nowMs = now()
    const last = buckets.get(keyId) ?? { calls: perMinute, atMs: nowMs }
    const refilled = (Math.max(0, nowMs - last.atMs) / minuteMs) * perMinute
    const calls = Math.min(perMinute, last.calls + refilled)
    const isFree = calls >= 1
    buckets.delete(keyId)
    buckets.set(keyId, { calls: isFree ? calls - 1 : calls, atMs: nowMs })
    const [oldest] = buckets.keys()
    if (buckets.size > maxKeys && oldest !== undefined) buckets.delete(oldest)
    return isFree ? 0 : Math.ceil(((1 - calls) * 60) / perMinute)
  }
}
