import { expect, test } from '@jest/globals'
import { createBudget } from './budget.ts'

const nothing = { usd: 0, maxUsd: 0, hasUnknown: false }

test('without a budget nothing is held back, not even what nobody knows the price of', () => {
  const budget = createBudget(null, nothing)
  expect([budget.begin(), budget.begin()]).toEqual([true, true])
  budget.settle(null)
  expect([budget.begin(), budget.stoppedBy()]).toEqual([true, undefined])
})

test('until one has cost something, one is made at a time; one that was free teaches nothing', () => {
  const budget = createBudget(1, nothing)
  expect([budget.begin(), budget.begin()]).toEqual([true, false])
  budget.settle(0)
  expect([budget.begin(), budget.begin()]).toEqual([true, false])
  budget.settle(0.1)
  expect([budget.begin(), budget.begin()]).toEqual([true, true])
})

test('there is room for what is under way at the most that one has cost, and the end comes when that is settled', () => {
  const budget = createBudget(1, { usd: 0.5, maxUsd: 0.25, hasUnknown: false })
  expect([budget.begin(), budget.begin(), budget.begin()]).toEqual([true, true, false])
  expect(budget.stoppedBy()).toBeUndefined()
  budget.settle(0.25)
  expect([budget.begin(), budget.stoppedBy()]).toEqual([false, undefined])
  // The other one was cheaper: there is room for one more.
  budget.settle(0)
  expect([budget.begin(), budget.begin()]).toEqual([true, false])
  budget.settle(0.25)
  expect([budget.begin(), budget.stoppedBy()]).toEqual([false, 'budget'])
})

test('an attempt without a price ends a run that has a budget, at once and after a restart', () => {
  const budget = createBudget(1, nothing)
  budget.begin()
  budget.settle(null)
  expect([budget.begin(), budget.stoppedBy()]).toEqual([false, 'no_price'])
  const resumed = createBudget(1, { usd: 0.1, maxUsd: 0.1, hasUnknown: true })
  expect([resumed.begin(), resumed.stoppedBy()]).toEqual([false, 'no_price'])
})
