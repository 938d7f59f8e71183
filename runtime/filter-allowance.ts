/**
 * What all expressions of one project may cost on one event, in units of `filter-costs.ts`: 500 ms at worst.
 * Beyond it they fail once they have also taken that long. It allows four of the most expensive evaluations,
 * 350 usual patterns on snippets, or tens of thousands of comparisons. Without it 1,000 webhooks of one
 * project delayed a partition by 100 s per event.
 */
const maxCostTogether = 50_000_000
/**
 * Time they may take whatever their cost: usual patterns take a hundredth of it. Seventeen webhooks with
 * usual patterns on the longest texts exceed the cost alone.
 */
const freeMs = 500
/** Compiling one character takes up to 3 µs. */
const compiling = 300
/** Evaluating one character of an expression takes 50 to 100 ns, whatever it reads. */
const evaluating = 8

export const tooMuchTogether = `the filter expressions of the project cost too much on this event together: all characters that they read come to ${maxCostTogether} at most once they have taken half a second, those that patterns read count 18 times for each step of the pattern, and the oldest webhooks come first`

/** What one expression may take from an allowance. */
export interface FilterShare {
  /** Takes `cost` when that much is left; returns whether it was. */
  take(cost: number): boolean
  /** Whether more was requested than is left. */
  readonly isSpent: boolean
}

export function costOfCompiling(source: string): number {
  return source.length * compiling
}

export function costOfEvaluating(source: string): number {
  return source.length * evaluating
}

/**
 * Shares for `count` expressions in turn. Half of the whole stays reserved in equal parts for later ones, so
 * that expensive expressions leave something for cheap ones. Unused cost passes on. `tookMs` is the time
 * taken so far; without it cost alone decides.
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
