/**
 * The budget of a run. An attempt begins only if the budget covers it and all under way, each at the highest
 * cost so far.
 */
export interface Budget {
  /** False: no more attempts. Each admitted attempt is settled once. */
  begin(): boolean
  /** `null`: the cost is unknown, which ends a run with a budget. */
  settle(costUsd: number | null): void
  stoppedBy(): 'budget' | 'no_price' | undefined
}

export function createBudget(
  budgetUsd: number | null,
  spent: { usd: number; maxUsd: number; hasUnknown: boolean },
): Budget {
  let { usd, maxUsd, hasUnknown } = spent
  let isPriced = maxUsd > 0
  let underWay = 0
  let isStopped = false
  return {
    begin() {
      if (budgetUsd !== null) {
        isStopped ||= hasUnknown || usd >= budgetUsd
        // Until a first attempt tells the cost, one is made at a time.
        if (isStopped || (!isPriced && underWay > 0)) return false
        if (usd + (underWay + 1) * maxUsd > budgetUsd) {
          isStopped ||= underWay === 0
          return false
        }
      }
      underWay++
      return true
    },
    settle(costUsd) {
      underWay--
      hasUnknown ||= costUsd === null
      isPriced ||= costUsd !== null && costUsd > 0
      usd += costUsd ?? 0
      maxUsd = Math.max(maxUsd, costUsd ?? 0)
    },
    stoppedBy: () => (isStopped ? (hasUnknown ? 'no_price' : 'budget') : undefined),
  }
}
