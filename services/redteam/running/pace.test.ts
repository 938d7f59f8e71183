import { expect, test } from '@jest/globals'
import type { Clock } from '#runtime/clock.ts'
import { createPace } from './pace.ts'

/** Time passes only by sleeping, and those who sleep wake in the order of their times. */
function sleepersClock(): Clock {
  let nowMs = 1_000
  let sleepers: { atMs: number; wake: () => void }[] = []
  const wakeNext = () => {
    const [first, ...others] = sleepers.sort((a, b) => a.atMs - b.atMs)
    if (first === undefined) return
    sleepers = others
    nowMs = Math.max(nowMs, first.atMs)
    first.wake()
  }
  return {
    now: () => nowMs,
    sleep: (delayMs) =>
      new Promise((resolve) => {
        sleepers.push({ atMs: nowMs + delayMs, wake: resolve })
        setImmediate(wakeNext)
      }),
  }
}

const never = new AbortController().signal

async function turnsOf(clock: Clock, pace: ReturnType<typeof createPace>, count: number): Promise<number[]> {
  return Promise.all(
    Array.from({ length: count }, () => pace.turn(never).then(() => Math.round(clock.now() - 1_000))),
  )
}

test('senders that ask together get their turns evenly over the minute', async () => {
  const clock = sleepersClock()
  expect(await turnsOf(clock, createPace(clock, 600), 4)).toEqual([0, 100, 200, 300])
})

test('without a rate nobody waits', async () => {
  const clock = sleepersClock()
  expect(await turnsOf(clock, createPace(clock, undefined), 3)).toEqual([0, 0, 0])
})

test('a hold is for everyone, the longest counts, and one that comes meanwhile is waited for too', async () => {
  const clock = sleepersClock()
  const pace = createPace(clock, undefined)
  pace.hold(500)
  pace.hold(100)
  const turns = turnsOf(clock, pace, 2)
  pace.hold(800)
  expect(await turns).toEqual([800, 800])
})

test('whoever is told to stop waits no longer', async () => {
  const stopping = new AbortController()
  const clock: Clock = {
    now: () => 0,
    sleep: () => {
      stopping.abort()
      return Promise.resolve()
    },
  }
  const pace = createPace(clock, undefined)
  pace.hold(60_000)
  await expect(pace.turn(stopping.signal)).resolves.toBeUndefined()
})

test('a clock that is set back an hour makes nobody wait for an hour', async () => {
  const time = { nowMs: 7_200_000 }
  const clock: Clock = {
    now: () => time.nowMs,
    sleep: (delayMs) => Promise.resolve(void (time.nowMs += delayMs)),
  }
  const pace = createPace(clock, 60)
  await pace.turn(never)
  pace.hold(60_000)
  time.nowMs -= 3_600_000
  const setBackTo = time.nowMs
  await pace.turn(never)
  expect(time.nowMs - setBackTo).toBeLessThanOrEqual(301_000)
})
