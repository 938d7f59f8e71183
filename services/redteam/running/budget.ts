/** What a run may cost. An attempt is begun only while there is room for it and for all that are under way, each at the most that one has cost. */
export interface Budget {
  /** False: no more attempts. Each that was let in is settled once. */
  begin(): boolean
  /** `null`: nobody knows what it cost, which ends a run that has a budget. */
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
        // The first attempts tell what one costs: until then one is made at a time.
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
