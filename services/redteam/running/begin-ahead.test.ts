import { expect, test } from '@jest/globals'
import type { PlannedAttempt } from '../steps/plan-attempts.ts'
import { beginAhead } from './begin-ahead.ts'

const concurrency = 8

/** A plan in memory; each number is begun once, as in Postgres. */
function planOf(count: number) {
  const planned = new Set(Array.from({ length: count }, (_, number) => number))
  const begun = new Set<number>()
  return {
    begun,
    planned: (after: number, limit: number) =>
      Promise.resolve(
        [...planned]
          .filter((number) => number > after)
          .slice(0, limit)
          .map((number) => ({ number }) as PlannedAttempt),
      ),
    begin(numbers: readonly number[]) {
      const taken = numbers.filter((number) => planned.delete(number))
      for (const number of taken) begun.add(number)
      return Promise.resolve(new Set(taken))
    },
    giveBack(numbers: readonly number[]) {
      for (const number of numbers) if (begun.delete(number)) planned.add(number)
      return Promise.resolve()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('hands out each attempt once, and then none', async () => {
  const plan = planOf(1_203)
  const ahead = beginAhead(plan, concurrency)
  const numbers: number[] = []
  const send = async () => {
    for (let one = await ahead.next(); one !== undefined; one = await ahead.next()) {
      numbers.push(one.number)
      ahead.ended()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, send))
  expect(numbers.toSorted((one, other) => one - other)).toEqual([...Array(1_203).keys()])
})

test('never begins more than three times the concurrency that are not ended, and gives back what nobody took', async () => {
  const plan = planOf(100)
  const ahead = beginAhead(plan, concurrency)
  const handed: (PlannedAttempt | undefined)[] = []
  const asked = Array.from({ length: 40 }, () => ahead.next().then((one) => handed.push(one)))
  await settled()
  expect([handed.length, plan.begun.size]).toEqual([24, 24])
  ahead.ended()
  await settled()
  expect([handed.length, plan.begun.size]).toEqual([25, 25])
  ahead.stop()
  await Promise.all(asked)
  expect(handed.slice(25)).toEqual(Array(15).fill(undefined))
  await ahead.giveBackRest()
  expect(plan.begun).toEqual(new Set(handed.slice(0, 25).map((one) => one?.number)))
})

test('what cannot be begun is told to everyone who asks, and is not left out', async () => {
  const failure = new Error('away')
  const ahead = beginAhead({ ...planOf(10), begin: () => Promise.reject(failure) }, concurrency)
  await expect(ahead.next()).rejects.toBe(failure)
  await expect(ahead.next()).rejects.toBe(failure)
})
