import { randomUUID } from 'node:crypto'
import type { Log } from '#runtime/log.ts'
import { createThrottledLog } from '#runtime/throttled-log.ts'
import { monthOf, picodollarsOf } from '#schemas/picodollars.ts'
import type { CallerLimits } from './caller-limits.ts'
import { KeyBudget, type Admitted } from './key-budget.ts'
import type { ReportLease } from './lease-by-api.ts'

/** A call that its key's budget may pay. */
export interface Spending {
  month: string
  admitted: Admitted | Promise<Admitted>
  /** Once the call has ended, in picodollars. */
  settle(cost: bigint): void
}

/** The monthly budgets of keys that have one. */
export interface KeyBudgets {
  /** Admits a call that may cost so much. */
  spend(limits: CallerLimits, estimate: bigint): Spending
  /** Gives back what is held. */
  stop(): Promise<void>
}

interface KeyBudgetsOptions {
  report: ReportLease
  now: () => number
  log: Log
}

/** Months of keys that are remembered; beyond it those without a call go first. */
const maxMonths = 10_000
/** A stopping gateway waits no longer: its leases end by themselves. */
const stopMs = 2_000

export function createKeyBudgets({ report, now, log }: KeyBudgetsOptions): KeyBudgets {
  const months = new Map<string, { budget: KeyBudget; limits: CallerLimits }>()
  const throttledLog = createThrottledLog(1)

  const create = (limits: CallerLimits, month: string) => {
    const leased = { keyId: limits.keyId, leaseId: randomUUID(), month }
    const budget = new KeyBudget({
      budget: picodollarsOf(limits.monthlyBudgetUsd ?? 0),
      whenUnknown: () => months.get(`${limits.keyId} ${month}`)?.limits.whenUnknown ?? limits.whenUnknown,
      send: (said, sequence) => report(leased, said, sequence),
      now,
      onFailure: (error) =>
        throttledLog('lease', (unsaid) =>
          log.warn({ err: error, unsaid }, 'a key’s budget cannot be reserved: when_unknown decides'),
        ),
    })
    forgetIdle(months)
    return budget
  }
  const budgetOf = (limits: CallerLimits, month: string): KeyBudget => {
    const name = `${limits.keyId} ${month}`
    const known = months.get(name)
    const budget = known?.budget ?? create(limits, month)
    if (known?.limits !== limits) months.set(name, { budget, limits })
    return budget
  }
  return {
    spend(limits, estimate) {
      const month = monthOf(now())
      const budget = budgetOf(limits, month)
      return {
        month,
        admitted: budget.admit(estimate),
        settle: (cost) => budget.settle(estimate, cost),
      }
    },
    async stop() {
      const stopped = Promise.all([...months.values()].map(({ budget }) => budget.stop()))
      const timeout = Promise.withResolvers<undefined>()
      const timer = setTimeout(() => timeout.resolve(undefined), stopMs)
      await Promise.race([stopped, timeout.promise])
      clearTimeout(timer)
    },
  }
}

function forgetIdle(months: Map<string, { budget: KeyBudget }>): void {
  if (months.size < maxMonths) return
  for (const [name, { budget }] of months) if (budget.isIdle) months.delete(name)
}
