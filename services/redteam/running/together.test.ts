import { expect, jest, test } from '@jest/globals'
import { createTogether } from './together.ts'

const never = 60_000

/** Calls that stay under way until the test ends them. */
function callsOf(limits: { most: number; least: number; withinMs: number }) {
  const calls: { items: readonly number[]; end: PromiseWithResolvers<readonly number[]> }[] = []
  const give = createTogether(
    (items: readonly number[]) => {
      const end = Promise.withResolvers<readonly number[]>()
      calls.push({ items, end })
      return end.promise
    },
    { ...limits, atOnce: 2 },
  )
  return { calls, give, items: () => calls.map((call) => call.items) }
}

test('waits for as many as a call is worth, and each gets its own answer', async () => {
  const { calls, give, items } = callsOf({ most: 10, least: 3, withinMs: never })
  const answers = [give(1), give(2)]
  expect(items()).toEqual([])
  answers.push(give(3))
  expect(items()).toEqual([[1, 2, 3]])
  calls[0]?.end.resolve([10, 20, 30])
  expect(await Promise.all(answers)).toEqual([10, 20, 30])
})

test('does not wait for ever for more', async () => {
  const { calls, give, items } = callsOf({ most: 10, least: 3, withinMs: 1 })
  const answer = give(1)
  while (calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  expect(items()).toEqual([[1]])
  calls[0]?.end.reject(new Error('away'))
  await expect(answer).rejects.toThrow('away')
})

test('what comes while two calls are under way goes together into the next, up to what one takes', async () => {
  const { calls, give, items } = callsOf({ most: 4, least: 2, withinMs: never })
  const answers = Array.from({ length: 9 }, (_unused, index) => give(index))
  expect(items()).toEqual([
    [0, 1],
    [2, 3],
  ])
  calls[0]?.end.resolve([0, 1])
  await answers[0]
  expect(items().slice(2)).toEqual([[4, 5, 6, 7]])
  calls[1]?.end.resolve([2, 3])
  await answers[2]
  // A single item is not worth a call yet.
  expect(calls).toHaveLength(3)
  answers.push(give(9))
  expect(items().slice(3)).toEqual([[8, 9]])
  calls[2]?.end.resolve([4, 5, 6, 7])
  calls[3]?.end.resolve([8, 9])
  expect(await Promise.all(answers)).toEqual([...Array(10).keys()])
})

test('a call that fails leaves the next its place, and what waited its own time', async () => {
  const { calls, give, items } = callsOf({ most: 2, least: 2, withinMs: never })
  const answers = Array.from({ length: 6 }, (_unused, index) => give(index))
  const failed = Promise.allSettled(answers.slice(0, 2))
  calls[0]?.end.reject(new Error('away'))
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(items().slice(2)).toEqual([[4, 5]])
  calls[1]?.end.resolve([2, 3])
  calls[2]?.end.resolve([4, 5])
  expect(await Promise.all(answers.slice(2))).toEqual([2, 3, 4, 5])
})

test('the time of those before is not the time of those that come after', () => {
  jest.useFakeTimers()
  try {
    const { give, items } = callsOf({ most: 10, least: 2, withinMs: 100 })
    void give(0)
    jest.advanceTimersByTime(60)
    void give(1)
    void give(2)
    jest.advanceTimersByTime(60)
    // The first two went together; the 100 ms of the third are not over.
    expect(items()).toEqual([[0, 1]])
    jest.advanceTimersByTime(40)
    expect(items()).toEqual([[0, 1], [2]])
  } finally {
    jest.useRealTimers()
  }
})
