import { describe, expect, test } from '@jest/globals'
import { applyReport, balanceOf, leaseMs, type Lease, type LeaseReport } from './lease-book.ts'

const budget = 1_000n
const nowMs = 1_000_000

/** The leases of one key's month, as the API keeps them. */
class Book {
  leases: Lease[] = []
  nowMs = nowMs
  #sequence = 0n

  report(id: string, more: Partial<LeaseReport> = {}) {
    this.#sequence += 1n
    const nothing = { spent: 0n, underWay: 0n, held: 0n, minimum: 0n, wanted: 0n, waiting: 0n, refused: 0n }
    return this.send({ ...nothing, ...more, id, sequence: more.sequence ?? this.#sequence })
  }
  send(report: LeaseReport) {
    const applied = applyReport(this.leases, report, { budget, nowMs: this.nowMs })
    const ids = new Set(applied.changed.map(({ id }) => id))
    this.leases = [...this.leases.filter(({ id }) => !ids.has(id)), ...applied.changed]
    return applied
  }
}

describe('a report', () => {
  test('is granted what it wants, and never more than what remains', () => {
    const book = new Book()
    expect(book.report('a', { minimum: 10n, wanted: 600n }).lease.granted).toBe(600n)
    expect(book.report('b', { minimum: 10n, wanted: 600n }).lease.granted).toBe(400n)
    expect(book.report('c', { minimum: 1n, wanted: 600n }).lease.granted).toBe(0n)
  })

  test('gets nothing where its minimum does not remain', () => {
    const book = new Book()
    book.report('a', { wanted: 950n })
    const { lease, balance } = book.report('b', { minimum: 51n, wanted: 100n })
    expect([lease.granted, balance]).toEqual([0n, { spent: 0n, reserved: 950n, available: 50n }])
    expect(book.report('b', { minimum: 50n, wanted: 100n }).lease.granted).toBe(50n)
  })

  test('gives back what it does not hold', () => {
    const book = new Book()
    book.report('a', { wanted: 600n })
    const { lease, balance } = book.report('a', { spent: 100n, underWay: 50n, held: 25n })
    expect(lease).toMatchObject({ granted: 175n, spent: 100n, underWay: 50n })
    expect(balance).toEqual({ spent: 100n, reserved: 75n, available: 825n })
  })

  test('cannot hold what it was never granted', () => {
    const book = new Book()
    book.report('a', { wanted: 100n })
    expect(book.report('a', { spent: 40n, held: 500n }).lease.granted).toBe(100n)
    expect(book.report('b', { held: 500n }).lease.granted).toBe(0n)
  })

  test('that comes twice changes nothing, nor does one after a later one', () => {
    const book = new Book()
    const first = { id: 'a', sequence: 1n, spent: 0n, underWay: 0n, held: 0n, waiting: 0n, refused: 0n }
    const granted = book.send({ ...first, minimum: 100n, wanted: 100n })
    const again = book.send({ ...first, minimum: 100n, wanted: 100n })
    expect(again.lease).toEqual(granted.lease)
    book.report('a', { sequence: 3n, spent: 100n })
    const late = book.report('a', { sequence: 2n, spent: 50n, wanted: 500n })
    expect([late.lease.spent, late.balance.available]).toEqual([100n, 900n])
  })

  test('whose answer was lost leaks nothing', () => {
    const book = new Book()
    book.report('a', { wanted: 400n })
    // The process never learned of the grant and holds nothing.
    expect(book.report('a', { held: 0n, wanted: 100n }).balance).toMatchObject({ reserved: 100n })
  })

  test('may have spent more than it was granted; the budget is then exceeded by that and shows it', () => {
    const book = new Book()
    book.report('a', { wanted: 1_000n })
    const { balance } = book.report('a', { spent: 1_200n })
    expect(balance).toEqual({ spent: 1_200n, reserved: 0n, available: 0n })
  })
})

describe('a lease without reports for its time', () => {
  test('comes back, without what was said to be spent or under way', () => {
    const book = new Book()
    book.report('a', { wanted: 800n })
    book.report('a', { spent: 100n, underWay: 30n, held: 670n })
    book.nowMs += leaseMs - 1
    expect(book.report('b', { minimum: 300n, wanted: 300n }).lease.granted).toBe(0n)
    book.nowMs += 1
    expect(book.report('b', { wanted: 2_000n }).lease.granted).toBe(870n)
    expect(balanceOf(book.leases, budget)).toEqual({ spent: 100n, reserved: 900n, available: 0n })
  })

  test('keeps what calls got that waited for it: they began with the grant', () => {
    const book = new Book()
    book.report('a', { minimum: 300n, wanted: 800n, waiting: 300n })
    book.nowMs += leaseMs
    expect(book.report('b', { wanted: 2_000n }).lease.granted).toBe(700n)
  })

  test('is settled by a report that comes late after all', () => {
    const book = new Book()
    book.report('a', { wanted: 800n })
    book.report('a', { underWay: 30n, held: 770n })
    book.nowMs += leaseMs
    book.report('b', { wanted: 2_000n })
    const late = book.report('a', { spent: 500n, held: 300n })
    expect(late.lease.granted).toBe(500n)
    expect(late.balance).toEqual({ spent: 500n, reserved: 970n, available: 0n })
  })
})

test('no sequence of reports by processes that keep to their leases exceeds the budget', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return BigInt(seed % below)
  }
  const book = new Book()
  const processes = new Map(['a', 'b', 'c'].map((id) => [id, { spent: 0n, free: 0n }]))
  for (let step = 0; step < 2_000; step++) {
    const id = ['a', 'b', 'c'][Number(random(3))] ?? 'a'
    const own = processes.get(id) ?? { spent: 0n, free: 0n }
    const used = own.free === 0n ? 0n : random(Number(own.free) + 1)
    own.spent += used
    const held = own.free - used === 0n ? 0n : random(Number(own.free - used) + 1)
    const { lease } = book.report(id, { spent: own.spent, held, minimum: random(20), wanted: random(60) })
    own.free = lease.granted - own.spent
    const { spent, reserved } = balanceOf(book.leases, budget)
    expect(spent + reserved).toBeLessThanOrEqual(budget)
  }
  expect(balanceOf(book.leases, budget).spent).toBeGreaterThan(900n)
})
