/**
 * What the expressions of one project may cost on one event, in the units of `filter-costs.ts`: 500 ms at worst. Beyond it they fail once they
 * have also taken as long. Four of the dearest that one evaluation may be, 350 usual patterns on snippets, tens of thousands of comparisons.
 * Without it the 1,000 webhooks of one project kept all other events of a partition waiting for 100 s, with each event.
 */
const maxCostTogether = 50_000_000
/**
 * What they may take in time whatever their cost says: usual patterns take a hundredth of it, and seventeen webhooks with such patterns on
 * the longest texts would have been over it.
 */
const freeMs = 500
/** Of compiling a character: up to 3 µs. */
const compiling = 300
/** Of a character of an expression that is evaluated, whatever it reads: 50 to 100 ns. */
const evaluating = 8

export const tooMuchTogether = `the filter expressions of the project cost too much on this event together: all characters that they read come to ${maxCostTogether} at most once they have taken half a second, those that patterns read count 18 times for each step of the pattern, and the oldest webhooks come first`

/** What one expression may take of an allowance. */
export interface FilterShare {
  /** Whether so much is left for it; then it is taken. */
  take(cost: number): boolean
  /** More was asked for than is left. */
  readonly isSpent: boolean
}

export function costOfCompiling(source: string): number {
  return source.length * compiling
}

export function costOfEvaluating(source: string): number {
  return source.length * evaluating
}

/**
 * Shares for `count` expressions, taken one after the other: half of the whole is kept in equal parts for those to come, so that dear ones in
 * front leave something for cheap ones behind; what somebody does not take the next ones may. `tookMs` is what they have taken so far; without
 * it the cost alone decides.
 */
export function createFilterAllowance(
  count: number,
  tookMs: () => number = () => Infinity,
): { next: () => FilterShare } {
  const part = maxCostTogether / 2 / count
  let left = maxCostTogether
  let toCome = count
  return {
    next() {
      toCome -= 1
      const kept = part * toCome
      let ownLeft = part
      let isSpent = false
      return {
        take(cost) {
          isSpent ||= cost > ownLeft && left - cost < kept && tookMs() >= freeMs
          if (isSpent) return false
          left -= cost
          ownLeft -= cost
          return true
        },
        get isSpent() {
          return isSpent
        },
      }
    },
  }
}
