import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import type { WhenUnknown } from '#schemas/key-limits.ts'
import { applyReport, type Lease } from '#services/api/budgets/lease-book.ts'
import { KeyBudget } from './key-budget.ts'

/** The API's own arithmetic behind the budgets of several processes; the network takes a while. */
class Bank {
  leases: Lease[] = []
  isAway = false
  whenUnknown: WhenUnknown = 'stop'
  reports = 0
  readonly failures: unknown[] = []
  readonly budget: bigint

  constructor(budget: bigint) {
    this.budget = budget
  }

  process(id: string): KeyBudget {
    return new KeyBudget({
      budget: this.budget,
      whenUnknown: () => this.whenUnknown,
      now: () => Date.now(),
      onFailure: (error) => this.failures.push(error),
      send: async (report, sequence) => {
        this.reports += 1
        await new Promise((resolve) => setTimeout(resolve, 10))
        if (this.isAway) throw new Error('away')
        const numbers = { sequence: BigInt(sequence), refused: BigInt(report.refused) }
        const applied = applyReport(
          this.leases,
          { ...report, ...numbers, id },
          { budget: this.budget, nowMs: Date.now() },
        )
        const ids = new Set(applied.changed.map((lease) => lease.id))
        this.leases = [...this.leases.filter((lease) => !ids.has(lease.id)), ...applied.changed]
        const { lease, balance } = applied
        return {
          granted: lease.granted,
          spent: balance.spent,
          budgetUsd: 1,
          budget: this.budget,
          expiresInMs: 30_000,
        }
      },
    })
  }
  get spent() {
    return this.leases.reduce((sum, { spent }) => sum + spent, 0n)
  }
  get refused() {
    return this.leases.reduce((sum, { refused }) => sum + refused, 0n)
  }
}

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** Runs the clock until all are decided. */
async function decided<T>(all: readonly (T | Promise<T>)[]): Promise<T[]> {
  const results = Promise.all(all)
  await jest.advanceTimersByTimeAsync(20_000)
  return results
}
const timesIn = (results: readonly string[], wanted: string) =>
  results.filter((each) => each === wanted).length

describe('200 calls at once over three processes', () => {
  test.each([
    [5_050n, 100n, 50],
    [5_000n, 100n, 50],
    [99n, 100n, 0],
    [640n, 7n, 91],
    [1_000_000n, 100n, 200],
  ])('with %d and a price of %d admit exactly %d', async (budget, price, admitted) => {
    const bank = new Bank(budget)
    const processes = ['a', 'b', 'c'].map((id) => bank.process(id))
    const calls = Array.from({ length: 200 }, async (_, at) => {
      const process = processes[at % 3] as KeyBudget
      const result = await process.admit(price)
      if (result === 'admitted') setTimeout(() => process.settle(price, price), 50 + ((at * 37) % 400))
      return result
    })
    const results = await decided(calls)
    expect([timesIn(results, 'admitted'), timesIn(results, 'exceeded')]).toEqual([admitted, 200 - admitted])
    expect([bank.spent, bank.refused]).toEqual([BigInt(admitted) * price, BigInt(200 - admitted)])
  })

  test('of which each costs half its estimate, use what comes back within the wait', async () => {
    const bank = new Bank(1_000n)
    const processes = ['a', 'b', 'c'].map((id) => bank.process(id))
    const calls = Array.from({ length: 30 }, async (_, at) => {
      const process = processes[at % 3] as KeyBudget
      const result = await process.admit(100n)
      if (result === 'admitted') setTimeout(() => process.settle(100n, 50n), 20)
      return result
    })
    const results = await decided(calls)
    expect(bank.spent).toBe(BigInt(timesIn(results, 'admitted')) * 50n)
    expect(bank.spent).toBeGreaterThan(900n)
    expect(bank.spent).toBeLessThanOrEqual(1_000n)
  })
})

test('a call that fits into the slice waits for nothing', async () => {
  const bank = new Bank(6_400n)
  const process = bank.process('a')
  const first = process.admit(10n)
  expect(first).toBeInstanceOf(Promise)
  await jest.advanceTimersByTimeAsync(20)
  expect(await first).toBe('admitted')
  expect(Array.from({ length: 9 }, () => process.admit(10n))).toEqual(Array(9).fill('admitted'))
})

test('what no call uses goes back within a second or so, and the account falls silent', async () => {
  const bank = new Bank(6_400n)
  const process = bank.process('a')
  const first = process.admit(10n)
  await jest.advanceTimersByTimeAsync(20)
  expect(await first).toBe('admitted')
  process.settle(10n, 10n)
  await jest.advanceTimersByTimeAsync(2_500)
  expect(bank.leases).toMatchObject([{ granted: 10n, spent: 10n, underWay: 0n }])
  const { reports } = bank
  await jest.advanceTimersByTimeAsync(60_000)
  expect([bank.reports, process.isIdle]).toEqual([reports, true])
})

test('a call that runs for minutes keeps its lease, which gives back the rest', async () => {
  const bank = new Bank(6_400n)
  const process = bank.process('a')
  const first = process.admit(10n)
  await jest.advanceTimersByTimeAsync(120_000)
  expect(await first).toBe('admitted')
  expect(bank.leases).toMatchObject([{ granted: 10n, underWay: 10n }])
  expect(bank.leases[0]?.expiresAtMs).toBeGreaterThan(Date.now())
})

describe('while the API is away', () => {
  test.each([
    ['stop', 'unknown'],
    ['allow', 'admitted'],
  ] as const)('a slice that is used up means %s', async (whenUnknown, expected) => {
    const bank = new Bank(6_400n)
    bank.whenUnknown = whenUnknown
    const process = bank.process('a')
    const first = process.admit(100n)
    await jest.advanceTimersByTimeAsync(20)
    expect(await first).toBe('admitted')
    bank.isAway = true
    const late = process.admit(100n)
    await jest.advanceTimersByTimeAsync(20)
    expect(await late).toBe(expected)
    // The next are decided at once.
    expect(process.admit(100n)).toBe(expected)
    expect(bank.failures.length).toBeGreaterThan(0)
    bank.isAway = false
    await jest.advanceTimersByTimeAsync(5_000)
    expect(bank.leases[0]?.underWay).toBe(whenUnknown === 'allow' ? 300n : 100n)
  })

  test('a slice is used until it ends', async () => {
    const bank = new Bank(64_000n)
    const process = bank.process('a')
    const first = process.admit(100n)
    await jest.advanceTimersByTimeAsync(20)
    expect(await first).toBe('admitted')
    bank.isAway = true
    expect(process.admit(100n)).toBe('admitted')
  })
})

test('a process that is killed leaves what it reported; another gets the rest after its time', async () => {
  const bank = new Bank(1_000n)
  const killed = bank.process('killed')
  // Its call waited for the lease, and ends with it.
  const first = killed.admit(600n)
  await jest.advanceTimersByTimeAsync(500)
  expect(await first).toBe('admitted')
  const reported = bank.leases.find(({ id }) => id === 'killed')
  expect(reported).toMatchObject({ granted: 600n, underWay: 600n })
  // It never reports again.
  jest.clearAllTimers()
  const other = bank.process('other')
  await jest.advanceTimersByTimeAsync(30_000)
  const results = await decided([other.admit(300n), other.admit(200n)])
  expect(results).toEqual(['admitted', 'exceeded'])
})
