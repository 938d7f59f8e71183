/** What a report to the API says. Amounts are picodollars. */
export interface Report {
  spent: bigint
  underWay: bigint
  held: bigint
  minimum: bigint
  wanted: bigint
  /** Estimates of calls that wait for the answer. */
  waiting: bigint
  refused: number
}

/** What the API answers. */
export interface Grant {
  granted: bigint
  /** Of all processes. */
  spent: bigint
  budgetUsd: number
  budget: bigint
  expiresInMs: number
}

/** A slice is this part of the budget, or one call. */
const sliceParts = 64n

/**
 * The part of a key's month that this process may spend: what it was granted, has spent, and has under way.
 * Without clock or network; the times are given to it.
 */
export class KeyLease {
  #granted = 0n
  #spent = 0n
  #underWay = 0n
  #refused = 0
  #validUntilMs = 0
  #budget: bigint
  /** Of all processes, as last answered. */
  #spentByAll = 0n
  #largest = 0n

  constructor(budget: bigint) {
    this.#budget = budget
  }

  get budget(): bigint {
    return this.#budget
  }
  get underWay(): bigint {
    return this.#underWay
  }

  /** What may be spent without asking. A lease that is not renewed ends here before it does at the API. */
  free(nowMs: number): bigint {
    const left = this.#granted - this.#spent - this.#underWay
    return nowMs < this.#validUntilMs && left > 0n ? left : 0n
  }

  /** Whether less than half a slice is left. */
  isLow(nowMs: number): boolean {
    return this.free(nowMs) * 2n < this.#slice()
  }

  /** Whether a call cannot be paid for even when all other processes return what they hold. */
  isBeyond(estimate: bigint): boolean {
    return this.#spentByAll + estimate > this.#budget
  }

  admit(estimate: bigint): void {
    this.#underWay += estimate
    if (estimate > this.#largest) this.#largest = estimate
  }

  /** A call has ended. */
  settle(estimate: bigint, cost: bigint): void {
    this.#underWay -= estimate
    this.#spent += cost
  }

  refuse(): void {
    this.#refused += 1
  }

  /**
   * The next report. From now on only what it says is held here, whatever becomes of it. `waiting`: estimates
   * of calls that wait, in order. A call that does not fit into what is free gives that back first: what
   * several processes hold may together be enough for it.
   */
  report(waiting: readonly bigint[], nowMs: number, { keeps }: { keeps: boolean }): Report {
    const held = keeps && waiting.length === 0 ? this.free(nowMs) : 0n
    this.#granted = this.#spent + this.#underWay + held
    const needed = waiting.reduce((sum, estimate) => sum + estimate, 0n)
    const slice = this.#slice()
    const wishes = keeps && held * 2n < slice ? slice : 0n
    return {
      spent: this.#spent,
      underWay: this.#underWay,
      held,
      minimum: waiting[0] ?? 0n,
      wanted: needed > wishes ? needed : wishes,
      waiting: needed,
      refused: this.#refused,
    }
  }

  /** `sentMs`: when the report was sent that this answers. */
  grant({ granted, spent, budget, expiresInMs }: Grant, sentMs: number): void {
    this.#granted = granted
    this.#spentByAll = spent
    this.#budget = budget
    this.#validUntilMs = sentMs + expiresInMs
  }

  #slice(): bigint {
    const part = this.#budget / sliceParts
    return part > this.#largest ? part : this.#largest
  }
}
