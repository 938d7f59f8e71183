import { expect, test } from '@jest/globals'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { createRateLimit } from './rate-limit.ts'
import type { Waiter } from './wait-queue.ts'

const never = new AbortController().signal
const who: Waiter = { lane: 'live', projectId: 'p' }

/** A clock that jumps ahead whenever somebody sleeps. */
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
    await limit.take(1, never, who)
    takenAtMs.push(clock.at)
  }
  for (const from of takenAtMs) {
    const inMinute = takenAtMs.filter((at) => at >= from && at < from + 60_000)
    expect(inMinute.length).toBeLessThanOrEqual(701)
  }
  // The limit is fully used.
  expect(takenAtMs.at(-1)).toBeLessThan(195_000)
})

test('what is larger than a burst passes once, and is paid for by waiting', async () => {
  const clock = jumpingClock()
  const limit = createRateLimit(60, clock)
  await limit.take(100, never, who)
  expect(clock.at).toBe(0)
  await limit.take(1, never, who)
  expect(clock.at).toBeGreaterThan(89_000)
})

test('an estimate is corrected', async () => {
  const clock = jumpingClock()
  const limit = createRateLimit(60, clock)
  await limit.take(100, never, who)
  limit.correct(-100)
  await limit.take(1, never, who)
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
  await limit.take(100, never, who)
  await expect(limit.take(1, controller.signal, who)).rejects.toThrow('stopping')
})

test('without a limit nobody waits', async () => {
  const limit = createRateLimit(null, jumpingClock())
  for (let index = 0; index < 100; index++) await limit.take(1e9, never, who)
})

test('who waits goes on when what others took is given back', async () => {
  const limit = createRateLimit(1, systemClock)
  await limit.take(2, never, who)
  const waiting = limit.take(1, never, who)
  await new Promise((resolve) => setImmediate(resolve))
  limit.correct(-2)
  await waiting
})

/** An exhausted limit whose pause for the first waiter has begun. */
async function usedUp() {
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
  await limit.take(100, never, who)
  const order: string[] = []
  const asked: Promise<void>[] = []
  const ask = (name: string, asking: Waiter) => {
    asked.push(limit.take(1, never, asking).then(() => void order.push(name)))
    return new Promise((resolve) => setImmediate(resolve))
  }
  const all = async () => {
    pause.resolve(undefined)
    await Promise.all(asked)
    return order
  }
  return { ask, all }
}

test('live goes before replay, also before one that was there first', async () => {
  const { ask, all } = await usedUp()
  for (const name of ['replay 1', 'replay 2']) await ask(name, { ...who, lane: 'replay' })
  for (const name of ['live 1', 'live 2']) await ask(name, who)
  expect(await all()).toEqual(['live 1', 'live 2', 'replay 1', 'replay 2'])
})

test('projects take turns, however many requests of one wait', async () => {
  const { ask, all } = await usedUp()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
    await ask(name, { lane: 'live', projectId: name.slice(0, 1) })
  expect(await all()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
})

test('who gives up while waiting holds nobody up', async () => {
  const limit = createRateLimit(60, jumpingClock())
  await limit.take(100, never, who)
  const controller = new AbortController()
  const first = limit.take(1, controller.signal, who)
  const behind = limit.take(1, never, who)
  controller.abort(new Error('stopping'))
  await expect(first).rejects.toThrow('stopping')
  await behind
})
