import type { Tier } from '#schemas/tiers.ts'
import type { EventOrder, SubscriptionState } from './payment-event.ts'

/** What is stored of a project's subscription. */
export interface StoredSubscription {
  tier: Tier
  status: string
  subscriptionId: string | null
  /** The event that it was last changed by. */
  order: EventOrder | null
  periodStartMs: number
  periodResetAtMs: number
}

export interface SubscriptionChange {
  tier: Tier
  status: string
  /** Null: the period stays. `isRenewal`: it follows the one before, so what is used starts at 0. */
  period: { startMs: number; resetAtMs: number; isRenewal: boolean } | null
}

export type Decision =
  | { kind: 'change'; change: SubscriptionChange }
  /** An event that was applied before, or is older than what was, or of a subscription that another has taken the place of. */
  | { kind: 'ignore' }
  /** Two events of one kind in one second: only the provider knows which came last. */
  | { kind: 'ask' }
  | { kind: 'unknown_price' }

const live = new Set(['active', 'trialing', 'past_due'])
const payable = new Set(['active', 'trialing'])
const ended = new Set(['canceled', 'unpaid', 'incomplete_expired', 'paused'])

/** Be it overdue: the tier is the one that its price stands for. */
export const isRunning = (status: string): boolean => live.has(status)

/**
 * What an event makes of a subscription, in whatever order and however often events come. While a payment is overdue the tier stays: the
 * provider tries again, and says `unpaid` or `canceled` when it gives up. Before the first payment (`incomplete`) nothing changes.
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
 * What the provider's answer makes of it, asked because of `order`. Another event may have been applied while it was asked: the answer counts
 * unless that event is the newer one.
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
  // The end of a subscription that was replaced must not end the one that replaced it.
  if (isOther && !isRunning(state.status)) return 'older'
  const age = compareOrder(stored.order, order)
  return age === 'same' ? 'older' : age
}

/** The change to a state that holds. */
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
 * Whether a payment that failed makes a subscription overdue. It says nothing of tier and period, so it takes no place in the order of those who
 * do: an older `deleted` that comes after it would be lost. The provider tells of `past_due` by an event of the subscription's own as well.
 */
export function isMadeOverdue(stored: StoredSubscription, failed: EventOrder): boolean {
  return payable.has(stored.status) && compareOrder(stored.order, failed) === 'newer'
}

/** Whether an event comes before, after or at the same time as the one that was applied last. */
function compareOrder(last: EventOrder | null, order: EventOrder): 'newer' | 'older' | 'same' | 'tied' {
  if (last === null) return 'newer'
  if (last.id === order.id) return 'same'
  const difference = order.atMs - last.atMs || order.rank - last.rank
  if (difference === 0) return 'tied'
  return difference > 0 ? 'newer' : 'older'
}

/** Quotas are by the month also where a year is paid for; a period only ever moves on. */
function periodOf(stored: StoredSubscription, state: SubscriptionState): SubscriptionChange['period'] {
  const { periodStartMs: startMs, periodEndMs: endMs } = state
  if (startMs <= stored.periodStartMs) return null
  const month = monthEndAfter(startMs, state.anchorMs)
  const resetAtMs = endMs > startMs ? Math.min(endMs, month) : month
  return { startMs, resetAtMs, isRenewal: stored.periodResetAtMs <= startMs }
}

/**
 * When the month is over that a time is in, counted from the anchor as `roll_period` does in Postgres: those of a 31st end on a 28th of February and on a
 * 31st of March. Counted from a 28th they would end days early, and the quota would start anew twice.
 */
function monthEndAfter(ms: number, anchorMs: number): number {
  const [at, anchor] = [new Date(ms), new Date(anchorMs)]
  const months =
    12 * (at.getUTCFullYear() - anchor.getUTCFullYear()) + at.getUTCMonth() - anchor.getUTCMonth()
  const end = monthsAfter(anchor, months)
  return end > ms ? end : monthsAfter(anchor, months + 1)
}

/** The same day and time so many months later in UTC, or that month's last day. */
function monthsAfter(from: Date, months: number): number {
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const midnight = Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay))
  return midnight + (from.getTime() % 86_400_000)
}
