import { expect, test } from '@jest/globals'
import { createGroupCommit } from './group-commit.ts'

class OfOne extends Error {}

function setUp(run?: (items: readonly number[]) => Promise<readonly (string | Error)[]>) {
  const groups: (readonly number[])[] = []
  const commit = createGroupCommit<number, string>({
    run: async (items) => {
      groups.push(items)
      return run === undefined ? items.map(String) : run(items)
    },
    isOfOne: (error) => error instanceof OfOne,
    weightOf: (item) => item,
    maxWeight: 10,
  })
  return { groups, commit }
}

test('calls of one turn run together, and each gets its own result', async () => {
  const { groups, commit } = setUp()
  expect(await Promise.all([commit(1), commit(2), commit(3)])).toEqual(['1', '2', '3'])
  expect(groups).toEqual([[1, 2, 3]])
})

test('calls that come while a group runs are the next group', async () => {
  const first = Promise.withResolvers<undefined>()
  const { groups, commit } = setUp(async (items) => {
    if (items.includes(1)) await first.promise
    return items.map(String)
  })
  const begun = commit(1)
  await new Promise((resolve) => setTimeout(resolve, 5))
  const later = [commit(2), commit(3)]
  first.resolve(undefined)
  expect(await Promise.all([begun, ...later])).toEqual(['1', '2', '3'])
  expect(groups).toEqual([[1], [2, 3]])
})

test('a group is no heavier than the maximum; a heavier item runs alone', async () => {
  const { groups, commit } = setUp()
  await Promise.all([6, 4, 1, 12, 2].map((item) => commit(item)))
  expect(groups).toEqual([[6, 4], [1], [12], [2]])
})

test('an error that one item can cause is narrowed to it', async () => {
  const { groups, commit } = setUp((items) =>
    items.includes(2) ? Promise.reject(new OfOne('two')) : Promise.resolve(items.map(String)),
  )
  const outcomes = await Promise.allSettled([commit(1), commit(2), commit(3)])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(groups).toEqual([[1, 2, 3], [1], [2], [3]])
})

test('any other error rejects the whole group, and the next one runs', async () => {
  let isAway = true
  const { commit } = setUp((items) =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(items.map(String)),
  )
  const outcomes = await Promise.allSettled([commit(1), commit(2)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isAway = false
  expect(await commit(3)).toBe('3')
})

test('an Error among the results rejects its own call alone', async () => {
  const { commit } = setUp((items) =>
    Promise.resolve(items.map((item) => (item === 2 ? new Error('lost') : String(item)))),
  )
  const outcomes = await Promise.allSettled([commit(1), commit(2)])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})
