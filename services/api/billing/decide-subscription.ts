import type { Tier } from '#schemas/tiers.ts'
import type { EventOrder, SubscriptionState } from './payment-event.ts'

/** The stored state of a project's subscription. */
export interface StoredSubscription {
  tier: Tier
  status: string
  subscriptionId: string | null
  /** The last event applied. */
  order: EventOrder | null
  periodStartMs: number
  periodResetAtMs: number
}

export interface SubscriptionChange {
  tier: Tier
  status: string
  /** Null: the period stays. `isRenewal`: the period follows the previous one, so usage restarts at 0. */
  period: { startMs: number; resetAtMs: number; isRenewal: boolean } | null
}

export type Decision =
  | { kind: 'change'; change: SubscriptionChange }
  /** An event that was applied already, is older than the last one, or concerns a replaced subscription. */
  | { kind: 'ignore' }
  /** Two events of one kind in the same second: only the provider knows the order. */
  | { kind: 'ask' }
  | { kind: 'unknown_price' }

const live = new Set(['active', 'trialing', 'past_due'])
const payable = new Set(['active', 'trialing'])
const ended = new Set(['canceled', 'unpaid', 'incomplete_expired', 'paused'])

/** Includes overdue subscriptions: the tier is the one of their price. */
export const isRunning = (status: string): boolean => live.has(status)

/**
 * Decides what an event changes, in any order and with repetitions. The tier stays while a payment is
 * overdue: the provider retries, and says `unpaid` or `canceled` when it gives up. Before the first payment
 * (`incomplete`) nothing changes.
 */
export function decideSubscription(
  stored: StoredSubscription,
  order: EventOrder,
  state: SubscriptionState,
  tierOf: (price: string) => Tier | undefined,
): Decision {
  const age = ageOf(stored, order, state)
  if (age === 'older') return { kind: 'ignore' }
  if (age === 'tied') return { kind: 'ask' }
  return changeTo(stored, state, tierOf)
}

/**
 * Decides by the provider's answer, requested because of `order`. The answer counts unless a newer event was
 * applied meanwhile.
 */
export function decideByAnswer(
  stored: StoredSubscription,
  order: EventOrder,
  state: SubscriptionState,
  tierOf: (price: string) => Tier | undefined,
): Decision {
  return ageOf(stored, order, state) === 'older' ? { kind: 'ignore' } : changeTo(stored, state, tierOf)
}

function ageOf(
  stored: StoredSubscription,
  order: EventOrder,
  state: SubscriptionState,
): 'newer' | 'older' | 'tied' {
  const isOther = stored.subscriptionId !== null && stored.subscriptionId !== state.subscriptionId
  // The end of a replaced subscription must not end its successor.
  if (isOther && !isRunning(state.status)) return 'older'
  const age = compareOrder(stored.order, order)
  return age === 'same' ? 'older' : age
}

/** The change to a valid state. */
function changeTo(
  stored: StoredSubscription,
  state: SubscriptionState,
  tierOf: (price: string) => Tier | undefined,
): Decision {
  if (!isRunning(state.status)) {
    const tier = ended.has(state.status) ? 'free' : stored.tier
    return { kind: 'change', change: { tier, status: state.status, period: null } }
  }
  const tier = state.prices.map(tierOf).find((found) => found !== undefined)
  if (tier === undefined) return { kind: 'unknown_price' }
  return { kind: 'change', change: { tier, status: state.status, period: periodOf(stored, state) } }
}

/**
 * Whether a failed payment makes a subscription overdue. It says nothing about tier and period, so it is not
 * ordered with the events that do: an older `deleted` that arrives later would be lost. The provider also
 * sends `past_due` as an event.
 */
export function isMadeOverdue(stored: StoredSubscription, failed: EventOrder): boolean {
  return payable.has(stored.status) && compareOrder(stored.order, failed) === 'newer'
}

/** Compares an event with the one that was applied last. */
function compareOrder(last: EventOrder | null, order: EventOrder): 'newer' | 'older' | 'same' | 'tied' {
  if (last === null) return 'newer'
  if (last.id === order.id) return 'same'
  const difference = order.atMs - last.atMs || order.rank - last.rank
  if (difference === 0) return 'tied'
  return difference > 0 ? 'newer' : 'older'
}

/** Quotas are monthly, even when a year is paid for. A period only moves forward. */
function periodOf(stored: StoredSubscription, state: SubscriptionState): SubscriptionChange['period'] {
  const { periodStartMs: startMs, periodEndMs: endMs } = state
  if (startMs <= stored.periodStartMs) return null
  const month = monthEndAfter(startMs, state.anchorMs)
  const resetAtMs = endMs > startMs ? Math.min(endMs, month) : month
  return { startMs, resetAtMs, isRenewal: stored.periodResetAtMs <= startMs }
}

/**
 * The end of the month that contains a time, counted from the anchor as `roll_period` does in Postgres:
 * months from a 31st end on 28 February and 31 March. Counted from the 28th they would end early, and the
 * quota would restart twice.
 */
function monthEndAfter(ms: number, anchorMs: number): number {
  const [at, anchor] = [new Date(ms), new Date(anchorMs)]
  const months =
    12 * (at.getUTCFullYear() - anchor.getUTCFullYear()) + at.getUTCMonth() - anchor.getUTCMonth()
  const end = monthsAfter(anchor, months)
  return end > ms ? end : monthsAfter(anchor, months + 1)
}

/** The same day and time some months later in UTC, or that month's last day. */
function monthsAfter(from: Date, months: number): number {
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const midnight = Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay))
  return midnight + (from.getTime() % 86_400_000)
}
