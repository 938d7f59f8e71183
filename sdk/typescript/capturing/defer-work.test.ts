import { expect, test } from '@jest/globals'
import { createDeferredWork } from './defer-work.ts'

test('work waits for the caller to have its turn, a hundred pieces at most, and what fails is warned of', async () => {
  const warnings: string[] = []
  const deferred = createDeferredWork((detail) => warnings.push(detail))
  let started = 0
  for (let piece = 0; piece < 1_500; piece++)
    deferred.run(() => {
      started++
      return piece === 0 ? Promise.reject(new Error('no')) : Promise.resolve()
    })
  expect(started).toBe(1_400)
  await deferred.idle()
  expect(started).toBe(1_500)
  expect(warnings).toEqual([expect.stringContaining('Error: no')])
})
