import { expect, test } from '@jest/globals'
import { createSharedTimeout } from './shared-timeout.ts'

const never = new Promise<void>(() => undefined)

test('what is done in time is done', async () => {
  expect(await createSharedTimeout(60_000).race(Promise.resolve())).toBe('done')
})

test('what is not done in time is late, each by its own time', async () => {
  const patience = createSharedTimeout(20)
  const first = patience.race(never)
  await new Promise((resolve) => setTimeout(resolve, 10))
  const second = patience.race(never)
  expect(await Promise.race([first.then(() => 'first'), second.then(() => 'second')])).toBe('first')
  expect(await Promise.all([first, second])).toEqual(['late', 'late'])
  expect(await patience.race(never)).toBe('late')
})
