import { expect, test } from '@jest/globals'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { createRateLimit } from './rate-limit.ts'

const never = new AbortController().signal

/** A clock that jumps to whenever somebody sleeps until. */
function jumpingClock(): Clock & { at: number } {
  const clock = {
    at: 0,
    now: () => clock.at,
    sleep: (delayMs: number) => {
      clock.at += delayMs
      return Promise.resolve()
    },
  }
  return clock
}

test('no more in a minute than the limit and one burst', async () => {
  const clock = jumpingClock()
  const limit = createRateLimit(600, clock)
  const takenAtMs: number[] = []
  for (let index = 0; index < 2_000; index++) {
    await limit.take(1, never)
    takenAtMs.push(clock.at)
  }
  for (const from of takenAtMs) {
    const inMinute = takenAtMs.filter((at) => at >= from && at < from + 60_000)
    expect(inMinute.length).toBeLessThanOrEqual(701)
  }
  // And no less: the limit is used.
  expect(takenAtMs.at(-1)).toBeLessThan(195_000)
})

test('what is larger than a burst passes once, and is paid for by waiting', async () => {
  const clock = jumpingClock()
  const limit = createRateLimit(60, clock)
  await limit.take(100, never)
  expect(clock.at).toBe(0)
  await limit.take(1, never)
  expect(clock.at).toBeGreaterThan(89_000)
})

test('an estimate is corrected', async () => {
  const clock = jumpingClock()
  const limit = createRateLimit(60, clock)
  await limit.take(100, never)
  limit.correct(-100)
  await limit.take(1, never)
  expect(clock.at).toBe(0)
})

test('who waits and is aborted takes nothing', async () => {
  const clock = jumpingClock()
  const controller = new AbortController()
  const sleep = () => {
    controller.abort(new Error('stopping'))
    return Promise.resolve()
  }
  const limit = createRateLimit(60, { ...clock, sleep })
  await limit.take(100, never)
  await expect(limit.take(1, controller.signal)).rejects.toThrow('stopping')
})

test('without a limit nobody waits', async () => {
  const limit = createRateLimit(null, jumpingClock())
  for (let index = 0; index < 100; index++) await limit.take(1e9, never)
})

test('who waits goes on when what others took is given back', async () => {
  const limit = createRateLimit(1, systemClock)
  await limit.take(2, never)
  const waiting = limit.take(1, never)
  await new Promise((resolve) => setImmediate(resolve))
  limit.correct(-2)
  await waiting
})

test('live goes before replay, also before one that was there first', async () => {
  const clock = jumpingClock()
  const pause = Promise.withResolvers<undefined>()
  const limit = createRateLimit(60, {
    ...clock,
    now: () => clock.at,
    sleep: async (delayMs) => {
      await pause.promise
      clock.at += delayMs
    },
  })
  await limit.take(100, never)
  const order: string[] = []
  const ask = (lane: 'live' | 'replay', name: string) =>
    limit.take(1, never, lane).then(() => {
      order.push(name)
    })
  const asked = [ask('replay', 'replay 1'), ask('replay', 'replay 2')]
  // The pause for the first replay has begun.
  await new Promise((resolve) => setImmediate(resolve))
  asked.push(ask('live', 'live 1'), ask('live', 'live 2'))
  pause.resolve(undefined)
  await Promise.all(asked)
  expect(order).toEqual(['live 1', 'live 2', 'replay 1', 'replay 2'])
})

test('who gives up while waiting holds nobody up', async () => {
  const limit = createRateLimit(60, jumpingClock())
  await limit.take(100, never)
  const controller = new AbortController()
  const first = limit.take(1, controller.signal)
  const behind = limit.take(1, never)
  controller.abort(new Error('stopping'))
  await expect(first).rejects.toThrow('stopping')
  await behind
})
