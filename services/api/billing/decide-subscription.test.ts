import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Tier } from '#schemas/tiers.ts'
import {
  decideByAnswer,
  decideSubscription,
  isMadeOverdue,
  type StoredSubscription,
} from './decide-subscription.ts'
import type { EventOrder, SubscriptionState } from './payment-event.ts'

const ms = (iso: string) => Date.parse(iso)
const fresh: StoredSubscription = {
  tier: 'free',
  status: 'active',
  subscriptionId: null,
  order: null,
  periodStartMs: ms('2026-11-01T00:00:00Z'),
  periodResetAtMs: ms('2026-12-01T00:00:00Z'),
}
const state = (given: Partial<SubscriptionState> = {}): SubscriptionState => ({
  subscriptionId: 'sub_1',
  customerId: 'cus_1',
  projectId: null,
  status: 'active',
  prices: ['price_pro'],
  periodStartMs: ms('2026-11-15T10:00:00Z'),
  periodEndMs: ms('2026-12-15T10:00:00Z'),
  anchorMs: ms('2026-11-15T10:00:00Z'),
  ...given,
})
const order = (atMs: number, rank = 2, id = `evt_${atMs}_${rank}`): EventOrder => ({ id, atMs, rank })
const tierOf = (price: string): Tier | undefined =>
  (({ price_pro: 'pro', price_team: 'team' }) as Record<string, Tier>)[price]

function apply(stored: StoredSubscription, event: EventOrder, told: SubscriptionState): StoredSubscription {
  const decision = decideSubscription(stored, event, told, tierOf)
  if (decision.kind !== 'change') return stored
  const { tier, status, period } = decision.change
  return {
    tier,
    status,
    subscriptionId: told.subscriptionId,
    order: event,
    periodStartMs: period?.startMs ?? stored.periodStartMs,
    periodResetAtMs: period?.resetAtMs ?? stored.periodResetAtMs,
  }
}

const fail = (stored: StoredSubscription, event: EventOrder): StoredSubscription =>
  isMadeOverdue(stored, event) ? { ...stored, status: 'past_due' } : stored

describe('a subscription', () => {
  test.each([
    ['active', 'pro'],
    ['trialing', 'pro'],
    ['past_due', 'pro'],
    ['unpaid', 'free'],
    ['canceled', 'free'],
    ['paused', 'free'],
    ['incomplete_expired', 'free'],
    ['incomplete', 'team'],
  ])('that is %s has the tier %s', (status, tier) => {
    const stored: StoredSubscription = { ...fresh, tier: 'team', subscriptionId: 'sub_1' }
    expect(apply(stored, order(1), state({ status }))).toMatchObject({ tier, status })
  })

  test('whose price stands for no tier is not guessed at', () => {
    const decision = decideSubscription(fresh, order(1), state({ prices: ['price_other'] }), tierOf)
    expect(decision).toEqual({ kind: 'unknown_price' })
  })

  test('that was replaced cannot end the one in its place', () => {
    const stored = apply(fresh, order(5_000), state({ subscriptionId: 'sub_2', prices: ['price_team'] }))
    expect(apply(stored, order(9_000, 3), state({ status: 'canceled' }))).toEqual(stored)
    expect(apply(stored, order(9_000), state({ prices: ['price_pro'] })).tier).toBe('pro')
  })

  test('is not paid again by the event that it was last changed by, which the provider sends once more', () => {
    const overdue = fail(apply(fresh, order(1_000), state()), order(2_000, 1))
    expect(apply(overdue, order(1_000), state()).status).toBe('past_due')
  })

  test('of which two events of one kind come in one second is asked for', () => {
    const stored = apply(fresh, order(1_000, 2, 'evt_a'), state())
    expect(decideSubscription(stored, order(1_000, 2, 'evt_b'), state(), tierOf)).toEqual({ kind: 'ask' })
    const answer = (before: StoredSubscription, given: Partial<SubscriptionState>) =>
      decideByAnswer(before, order(1_000, 2, 'evt_b'), state(given), tierOf)
    expect(answer(stored, { prices: ['price_team'] })).toMatchObject({ change: { tier: 'team' } })
    // An event applied during the request is newer than its answer.
    const meanwhile = apply(stored, order(2_000, 3), state({ status: 'canceled' }))
    expect(answer(meanwhile, { prices: ['price_team'] })).toEqual({ kind: 'ignore' })
    expect(answer({ ...stored, subscriptionId: 'sub_2' }, { status: 'canceled' })).toEqual({ kind: 'ignore' })
  })

  test('comes out the same in whatever order and however often its events come', () => {
    const event = fc.record({
      second: fc.integer({ min: 0, max: 3 }),
      rank: fc.constantFrom(0, 2, 3),
      status: fc.constantFrom('active', 'past_due', 'canceled', 'unpaid', 'trialing'),
      price: fc.constantFrom('price_pro', 'price_team'),
    })
    const events = fc.uniqueArray(event, { selector: ({ second, rank }) => second * 10 + rank, minLength: 1 })
    const disordered = events.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.array(fc.constantFrom(...list)),
        fc.shuffledSubarray(list, { minLength: list.length }),
      ),
    )
    fc.assert(
      fc.property(disordered, ([list, repeats, shuffled]) => {
        const run = (all: typeof list) =>
          all.reduce(
            (stored, { second, rank, status, price }) =>
              apply(stored, order(second * 1_000, rank), state({ status, prices: [price] })),
            fresh,
          )
        const inOrder = list.toSorted((a, b) => a.second - b.second || a.rank - b.rank)
        const { tier, status } = run(inOrder)
        expect(run([...repeats, ...shuffled, ...repeats])).toMatchObject({ tier, status })
      }),
    )
  })

  test.each([
    ['active', 'past_due'],
    ['trialing', 'past_due'],
    ['past_due', 'past_due'],
    ['canceled', 'canceled'],
    ['unpaid', 'unpaid'],
    ['paused', 'paused'],
    ['incomplete', 'incomplete'],
  ])('that is %s is %s once a payment failed', (status, after) => {
    expect(fail({ ...fresh, status, subscriptionId: 'sub_1' }, order(1_000, 1)).status).toBe(after)
  })

  test('loses nothing to failed payments, which say less than it, wherever among its events they come', () => {
    const event = fc.record({
      second: fc.integer({ min: 0, max: 3 }),
      rank: fc.constantFrom(0, 1, 1, 2, 3),
      status: fc.constantFrom('active', 'past_due', 'canceled', 'unpaid', 'trialing'),
      price: fc.constantFrom('price_pro', 'price_team'),
    })
    const events = fc.uniqueArray(event, { selector: ({ second, rank }) => second * 10 + rank, minLength: 1 })
    const disordered = events.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    )
    fc.assert(
      fc.property(disordered, ([list, shuffled]) => {
        const run = (all: typeof list) =>
          all.reduce(
            (stored, { second, rank, status, price }) =>
              rank === 1
                ? fail(stored, order(second * 1_000, rank))
                : apply(stored, order(second * 1_000, rank), state({ status, prices: [price] })),
            fresh,
          )
        const inOrder = list.toSorted((a, b) => a.second - b.second || a.rank - b.rank)
        const told = run(inOrder.filter(({ rank }) => rank !== 1))
        const { tier, order: last, status } = run(shuffled)
        expect({ tier, order: last }).toEqual({ tier: told.tier, order: told.order })
        // An older state that arrives after the failure wins until the provider's `past_due` follows.
        expect([told.status, run(inOrder).status]).toContain(status)
      }),
    )
  })
})

describe('the period', () => {
  const periodOf = (stored: StoredSubscription, told: SubscriptionState) => {
    const decision = decideSubscription(stored, order(1), told, tierOf)
    return decision.kind === 'change' ? decision.change.period : undefined
  }

  test("becomes the subscription's with the first payment, and keeps what is used", () => {
    expect(periodOf(fresh, state())).toEqual({
      startMs: ms('2026-11-15T10:00:00Z'),
      resetAtMs: ms('2026-12-15T10:00:00Z'),
      isRenewal: false,
    })
  })

  test('starts over when the one before is over', () => {
    const stored = { ...fresh, periodResetAtMs: ms('2026-11-15T10:00:00Z') }
    expect(periodOf(stored, state())).toMatchObject({ isRenewal: true })
  })

  test('is a month also where a year is paid for, and never moves back', () => {
    const startMs = ms('2026-01-31T10:00:00Z')
    const year = state({ periodStartMs: startMs, anchorMs: startMs, periodEndMs: ms('2027-01-31T10:00:00Z') })
    expect(periodOf({ ...fresh, periodStartMs: 0, periodResetAtMs: 1 }, year)).toMatchObject({
      resetAtMs: ms('2026-02-28T10:00:00Z'),
    })
    expect(periodOf(fresh, year)).toBeNull()
  })

  test.each([
    ['2026-02-28T10:00:00Z', '2026-03-31T10:00:00Z'],
    ['2026-04-30T10:00:00Z', '2026-05-31T10:00:00Z'],
    ['2026-03-31T10:00:00Z', '2026-04-30T10:00:00Z'],
    // A trial lasts until the anchor.
    ['2025-12-20T10:00:00Z', '2025-12-31T10:00:00Z'],
  ])('of a subscription that is renewed on a 31st, begun on %s, ends on %s', (start, end) => {
    const stored = { ...fresh, periodStartMs: 0, periodResetAtMs: 1 }
    const told = state({ periodStartMs: ms(start), periodEndMs: 0, anchorMs: ms('2026-01-31T10:00:00Z') })
    expect(periodOf(stored, told)).toMatchObject({ startMs: ms(start), resetAtMs: ms(end) })
  })
})
