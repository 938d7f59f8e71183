import { expect, test } from '@jest/globals'
import { createPermits } from './permits.ts'

const never = new AbortController().signal

test('no more than the limit at once, the rest in order, also after failures', async () => {
  const permits = createPermits(3)
  let now = 0
  let most = 0
  const order: number[] = []
  const work = Array.from({ length: 20 }, (_unused, index) =>
    permits
      .run(async () => {
        order.push(index)
        most = Math.max(most, ++now)
        await new Promise((resolve) => setImmediate(resolve))
        now--
        if (index % 4 === 0) throw new Error('failed')
      }, never)
      .catch(() => undefined),
  )
  await Promise.all(work)
  expect(most).toBe(3)
  expect(order).toEqual([...order].sort((left, right) => left - right))
})

test('who waits and is aborted takes no place', async () => {
  const permits = createPermits(1)
  const gate = Promise.withResolvers<undefined>()
  const first = permits.run(() => gate.promise, never)
  const controller = new AbortController()
  const waiting = permits.run(() => Promise.resolve('never'), controller.signal)
  const behind = permits.run(() => Promise.resolve('done'), never)
  controller.abort(new Error('stopping'))
  await expect(waiting).rejects.toThrow('stopping')
  gate.resolve(undefined)
  await first
  await expect(behind).resolves.toBe('done')
  await expect(permits.run(() => Promise.resolve('x'), controller.signal)).rejects.toThrow('stopping')
})
