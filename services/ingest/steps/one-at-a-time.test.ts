import { expect, test } from '@jest/globals'
import { createOneAtATime } from './one-at-a-time.ts'

test('work of one name waits for the work before, also for work that fails; other names do not', async () => {
  const oneAtATime = createOneAtATime()
  const order: string[] = []
  const first = Promise.withResolvers<undefined>()
  const all = [
    oneAtATime('a', async () => {
      await first.promise
      order.push('a1')
      throw new Error('away')
    }),
    oneAtATime('a', () => Promise.resolve(order.push('a2'))),
    oneAtATime('b', () => Promise.resolve(order.push('b1'))),
  ]
  await all[2]
  first.resolve(undefined)
  const results = await Promise.allSettled(all)
  expect(order).toEqual(['b1', 'a1', 'a2'])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
})
