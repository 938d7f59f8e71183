import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { TransientError } from '#runtime/errors.ts'
import { createBatcher, createGroupBatcher } from './batcher.ts'

function batched(fault: (items: readonly string[]) => Error | undefined = () => undefined) {
  const statements: (readonly string[])[] = []
  const call = createBatcher<string, string>({
    run: async (items) => {
      statements.push(items)
      await new Promise((resolve) => setImmediate(resolve))
      const error = fault(items)
      if (error !== undefined) throw error
      return items.map((item) => `${item}!`)
    },
    keyOf: (item) => item.slice(0, 1),
    maxItems: 3,
  })
  return { statements, call }
}

test('calls of one turn share a statement, and each has its own answer', async () => {
  const { statements, call } = batched()
  expect(await Promise.all(['a', 'b', 'c', 'd'].map(call))).toEqual(['a!', 'b!', 'c!', 'd!'])
  expect(statements).toEqual([['a', 'b', 'c'], ['d']])
  expect(await call('e')).toBe('e!')
})

test('calls of one key never share a statement, and keep their order', async () => {
  const { statements, call } = batched()
  await Promise.all(['a1', 'a2', 'b1', 'a3'].map(call))
  expect(statements).toEqual([['a1', 'b1'], ['a2'], ['a3']])
})

test('a statement that is refused for good is made for each call alone', async () => {
  const { call } = batched((items) => (items.includes('b') ? new Error('refused') : undefined))
  const ends = await Promise.allSettled(['a', 'b', 'c'].map(call))
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('an outage rejects all of them at once', async () => {
  const { statements, call } = batched(() => new TransientError('POSTGRES_UNAVAILABLE', 'away'))
  const ends = await Promise.allSettled(['a', 'b'].map(call))
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(statements).toHaveLength(1)
})

/**
 * Statements of up to 100 calls, the first of which goes on until it is let; a call's key is what comes
 * before its dash.
 */
function grouped(fault: (items: readonly string[]) => Error | undefined = () => undefined) {
  const statements: (readonly string[])[] = []
  const first = Promise.withResolvers<undefined>()
  const group = createGroupBatcher<string, string>({
    run: async (items) => {
      if (statements.push(items) === 1) await first.promise
      const error = fault(items)
      if (error !== undefined) throw error
      return items.map((item) => `${item}!`)
    },
    keyOf: (item) => item.split('-')[0] ?? '',
    maxItems: 100,
  })
  return { statements, group, letFirst: () => first.resolve(undefined) }
}

function distinct(count: number): string[] {
  return Array.from({ length: count }, (_none, index) => `k${index}-`)
}

test('calls that are made together are answered in their order, whatever statements they share with others', async () => {
  const { statements, group, letFirst } = grouped()
  letFirst()
  const answers = await Promise.all([group(['a-1', 'b-1', 'a-2']), group(['c-1']), group(['b-2', 'd-1'])])
  expect(answers).toEqual([['a-1!', 'b-1!', 'a-2!'], ['c-1!'], ['b-2!', 'd-1!']])
  expect(statements).toEqual([
    ['a-1', 'b-1', 'c-1', 'd-1'],
    ['a-2', 'b-2'],
  ])
})

test('of calls that are made together each has its own answer or error', async () => {
  const refused = new Error('refused')
  const { group, letFirst } = grouped((items) => (items.includes('b-') ? refused : undefined))
  letFirst()
  expect(await group(['a-', 'b-', 'c-'])).toEqual(['a-!', refused, 'c-!'])
  expect(await group(distinct(50))).toHaveLength(50)
  expect((await group([...distinct(50), 'b-'])).indexOf(refused)).toBe(50)
})

test('an outage is the error of each', async () => {
  const away = new TransientError('POSTGRES_UNAVAILABLE', 'away')
  const { statements, group, letFirst } = grouped(() => away)
  letFirst()
  expect(await group(['a-', 'b-'])).toEqual([away, away])
  expect(statements).toHaveLength(1)
})

test('50 calls of different keys have a statement of their own at once, however long another takes', async () => {
  const { statements, group, letFirst } = grouped()
  const earlier = group(['a-'])
  await nextTurn()
  const many = distinct(50)
  expect(await group(many)).toEqual(many.map((item) => `${item}!`))
  expect(statements).toEqual([['a-'], many])
  letFirst()
  expect(await earlier).toEqual(['a-!'])
})

test.each([
  ['fewer', distinct(49), [distinct(49)]],
  ['those with a key in common', [...distinct(50), 'k0-again'], [distinct(50), ['k0-again']]],
])('%s wait for the statement that is under way', async (_name, items, later) => {
  const { statements, group, letFirst } = grouped()
  const earlier = group(['a-'])
  await nextTurn()
  const answers = group(items)
  await nextTurn()
  expect(statements).toEqual([['a-']])
  letFirst()
  expect(await answers).toEqual(items.map((item) => `${item}!`))
  expect(statements).toEqual([['a-'], ...later])
  await earlier
})

test('more than a statement holds have several; what is left over waits with others', async () => {
  const { statements, group, letFirst } = grouped()
  const earlier = group(['a-'])
  await nextTurn()
  const items = distinct(210)
  const answers = Promise.all([group(items), group(['b-'])])
  await nextTurn()
  expect(statements).toEqual([['a-'], items.slice(0, 100), items.slice(100, 200)])
  letFirst()
  expect(await answers).toEqual([items.map((item) => `${item}!`), ['b-!']])
  expect(statements.slice(3)).toEqual([[...items.slice(200), 'b-']])
  await earlier
})

test('no calls have no answers, and need no statement', async () => {
  const { statements, group } = grouped()
  expect(await group([])).toEqual([])
  await nextTurn()
  expect(statements).toEqual([])
})
