import { expect, test } from '@jest/globals'
import { TransientError } from '#runtime/errors.ts'
import { gatherCalls } from './gather-calls.ts'

function gathered(fault: (items: readonly string[]) => Error | undefined = () => undefined) {
  const statements: (readonly string[])[] = []
  const call = gatherCalls<string, string>({
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
  const { statements, call } = gathered()
  expect(await Promise.all(['a', 'b', 'c', 'd'].map(call))).toEqual(['a!', 'b!', 'c!', 'd!'])
  expect(statements).toEqual([['a', 'b', 'c'], ['d']])
  expect(await call('e')).toBe('e!')
})

test('calls of one key never share a statement, and keep their order', async () => {
  const { statements, call } = gathered()
  await Promise.all(['a1', 'a2', 'b1', 'a3'].map(call))
  expect(statements).toEqual([['a1', 'b1'], ['a2'], ['a3']])
})

test('a statement that is refused for good is made for each call alone', async () => {
  const { call } = gathered((items) => (items.includes('b') ? new Error('refused') : undefined))
  const ends = await Promise.allSettled(['a', 'b', 'c'].map(call))
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('an outage rejects all of them at once', async () => {
  const { statements, call } = gathered(() => new TransientError('POSTGRES_UNAVAILABLE', 'away'))
  const ends = await Promise.allSettled(['a', 'b'].map(call))
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(statements).toHaveLength(1)
})
