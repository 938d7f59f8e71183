/** How long a lease counts after the last report of its gateway process. */
export const leaseMs = 30_000

/**
 * What one gateway process may spend of a key's month. Amounts are picodollars and only grow, but for
 * `underWay`.
 */
export interface Lease {
  id: string
  /** Of the last report that was applied. */
  sequence: bigint
  /** What it may spend in all, with what it has spent. */
  granted: bigint
  spent: bigint
  /** Estimates of calls that have not ended. */
  underWay: bigint
  /** Calls that it refused for their cost. */
  refused: bigint
  expiresAtMs: number
}

/** What a process says of its lease. Later reports of the same lease have higher numbers. */
export interface LeaseReport {
  id: string
  sequence: bigint
  spent: bigint
  underWay: bigint
  /** What it keeps for calls to come, of what it was granted. The rest comes back. */
  held: bigint
  /** What it needs at least. Less is of no use to it and is not granted. */
  minimum: bigint
  /** What it would like beside `held`. */
  wanted: bigint
  /** Estimates of calls that wait for the grant, and begin with it. */
  waiting: bigint
  refused: bigint
}

/** The money of a key in a month. */
export interface Balance {
  spent: bigint
  /** Held by processes, for calls under way and to come. */
  reserved: bigint
  /** May still be granted. */
  available: bigint
}

/** A lease counts with what it may still spend, or with more where calls cost more than was granted. */
function committed({ granted, spent, underWay }: Lease): bigint {
  return larger(granted, spent + underWay)
}

/**
 * A process that has not reported for its time is taken to have ended: of its lease counts what it has said
 * to have spent and admitted. The rest comes back. It no longer uses the lease itself (gateway/budgets).
 */
function expire(lease: Lease, nowMs: number): Lease {
  const used = lease.spent + lease.underWay
  return lease.expiresAtMs > nowMs || lease.granted <= used ? lease : { ...lease, granted: used }
}

export function balanceOf(leases: readonly Lease[], budget: bigint): Balance {
  const all = leases.reduce((sum, lease) => sum + committed(lease), 0n)
  const spent = leases.reduce((sum, lease) => sum + lease.spent, 0n)
  return { spent, reserved: all - spent, available: larger(budget - all, 0n) }
}

/**
 * Applies a report to the leases of a key and month, of which `leases` are all. A report that comes twice, or
 * after a later one, changes nothing. Returns every lease that changed, with the reporter's.
 */
export function applyReport(
  leases: readonly Lease[],
  report: LeaseReport,
  { budget, nowMs }: { budget: bigint; nowMs: number },
): { lease: Lease; changed: Lease[]; balance: Balance } {
  const living = leases.map((lease) => expire(lease, nowMs))
  const expired = living.filter((lease, at) => lease !== leases[at])
  const before = living.find(({ id }) => id === report.id)
  if (before !== undefined && before.sequence >= report.sequence)
    return { lease: before, changed: expired, balance: balanceOf(living, budget) }
  const others = living.filter(({ id }) => id !== report.id)
  const settled = settle(before, report)
  const { available } = balanceOf([...others, settled], budget)
  const grant = grantOf(report, available)
  const lease = {
    ...settled,
    granted: settled.granted + grant,
    underWay: settled.underWay + smaller(grant, report.waiting),
    expiresAtMs: nowMs + leaseMs,
  }
  return {
    lease,
    changed: [...expired.filter(({ id }) => id !== report.id), lease],
    balance: balanceOf([...others, lease], budget),
  }
}

/**
 * The lease with what its process reports, and without what it gives back. It cannot hold what it never had.
 */
function settle(before: Lease | undefined, report: LeaseReport): Lease {
  const used = larger(report.spent, before?.spent ?? 0n) + report.underWay
  const unused = larger((before?.granted ?? 0n) - used, 0n)
  return {
    id: report.id,
    sequence: report.sequence,
    granted: used + smaller(report.held, unused),
    spent: larger(report.spent, before?.spent ?? 0n),
    underWay: report.underWay,
    refused: larger(report.refused, before?.refused ?? 0n),
    expiresAtMs: before?.expiresAtMs ?? 0,
  }
}

function grantOf({ minimum, wanted }: LeaseReport, available: bigint): bigint {
  return available < minimum ? 0n : smaller(larger(wanted, minimum), available)
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
