import { ok, problem, type Finding } from './finding.ts'

/** Ingest accepts identifiers up to two hours ahead; leases and retries depend on seconds. */
const maxSkewMs = 2_000

/**
 * Compares another clock with this host's. `theirMs` was read between `beforeMs` and `afterMs`, so a value in
 * between is no skew. `granularityMs`: its resolution.
 */
export function examineClock(
  whose: string,
  theirMs: number,
  beforeMs: number,
  afterMs: number,
  granularityMs = 1,
): Finding {
  const aheadMs = Math.max(0, theirMs - afterMs)
  const behindMs = Math.max(0, beforeMs - (theirMs + granularityMs))
  const skewMs = Math.max(aheadMs, behindMs)
  if (skewMs <= maxSkewMs) return ok('clock', `${whose} and this host agree`)
  return problem(
    'clock',
    `${whose} is ${(skewMs / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this host`,
    'have NTP keep both: chronyc tracking, or timedatectl, on each; find out which is wrong first',
  )
}
