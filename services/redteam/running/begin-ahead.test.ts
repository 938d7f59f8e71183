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
    release(numbers: readonly number[]) {
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
  await ahead.releaseRest()
  expect(plan.begun).toEqual(new Set(handed.slice(0, 25).map((one) => one?.number)))
})

test('what cannot be begun is told to everyone who asks, and is not left out', async () => {
  const failure = new Error('away')
  const ahead = beginAhead({ ...planOf(10), begin: () => Promise.reject(failure) }, concurrency)
  await expect(ahead.next()).rejects.toBe(failure)
  await expect(ahead.next()).rejects.toBe(failure)
})

test('what another process has begun is not handed out, and takes no room', async () => {
  const plan = planOf(100)
  await plan.begin(Array.from({ length: 33 }, (_, index) => 3 * index))
  const elsewhere = new Set(plan.begun)
  // Begun between reading the plan and the statement.
  const seen = { ...planOf(100), begin: (numbers: readonly number[]) => plan.begin(numbers) }
  const ahead = beginAhead(seen, concurrency)
  const handed: (number | undefined)[] = []
  const asked = Array.from({ length: 40 }, () => ahead.next().then((one) => handed.push(one?.number)))
  await settled()
  expect(handed).toHaveLength(24)
  for (let sent = 0; handed.length < 40; sent++) {
    ahead.ended()
    await settled()
    if (sent > 40) throw new Error('ends without handing out')
  }
  await Promise.all(asked)
  expect(handed.filter((number) => number === undefined || elsewhere.has(number))).toEqual([])
  expect(new Set(handed).size).toBe(40)
})

test('what is begun while it stops is waited for and given back, and not handed out', async () => {
  const plan = planOf(20)
  const answer = Promise.withResolvers<undefined>()
  const begin = (numbers: readonly number[]) => answer.promise.then(() => plan.begin(numbers))
  const ahead = beginAhead({ ...plan, begin }, concurrency)
  const asked = ahead.next()
  await settled()
  ahead.stop()
  expect(await asked).toBeUndefined()
  const given = ahead.releaseRest()
  answer.resolve(undefined)
  await given
  ahead.ended()
  await settled()
  expect(plan.begun.size).toBe(0)
})

test('what is ready when it stops is given back, and nobody gets it', async () => {
  const plan = planOf(20)
  const release = (numbers: readonly number[]) => settled().then(() => plan.release(numbers))
  const ahead = beginAhead({ ...plan, release }, concurrency)
  const first = await ahead.next()
  expect(plan.begun.size).toBeGreaterThan(1)
  ahead.stop()
  expect(await ahead.next()).toBeUndefined()
  await ahead.releaseRest()
  expect(plan.begun).toEqual(new Set([first?.number]))
})

test('one statement begins several, and none is made after one that failed', async () => {
  const plan = planOf(100)
  const sizes: number[] = []
  let isAway = false
  const begin = (numbers: readonly number[]) => {
    sizes.push(numbers.length)
    return isAway ? Promise.reject(new Error('away')) : plan.begin(numbers)
  }
  const ahead = beginAhead({ ...plan, begin }, concurrency)
  for (let sent = 0; sent < 40; sent++) {
    await ahead.next()
    ahead.ended()
  }
  await settled()
  expect(sizes.slice(1).filter((size) => size < 2)).toEqual([])
  isAway = true
  const last = async () => {
    for (let sent = 0; sent < 100; sent++) await ahead.next()
  }
  await expect(last()).rejects.toThrow('away')
  const made = sizes.length
  await expect(ahead.next()).rejects.toThrow('away')
  ahead.ended()
  await settled()
  expect(sizes).toHaveLength(made)
})
