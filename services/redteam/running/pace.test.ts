import { expect, test } from '@jest/globals'
import type { Clock } from '#runtime/clock.ts'
import { createPace } from './pace.ts'

/** Time passes only by sleeping, and sleepers wake in the order of their times. */
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
  await Promise.resolve()
  pace.hold(800)
  expect(await turns).toEqual([800, 800])
})

test('anyone who is told to stop waits no longer', async () => {
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
  await expect(pace.turn(stopping.signal)).resolves.toBe(0)
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

test('a hold does not put a minute’s turns together', async () => {
  const clock = sleepersClock()
  const pace = createPace(clock, 600)
  pace.hold(500)
  expect(await turnsOf(clock, pace, 4)).toEqual([500, 600, 700, 800])
})

/**
 * Sixteen senders at a target that takes `perMinute` and asks the others to come back in a second. Counts
 * attempts taken, turned away and given up.
 */
async function attackLimited({ perMinute, latencyMs }: { perMinute: number; latencyMs: number }) {
  const clock = sleepersClock()
  const pace = createPace(clock, undefined)
  const counts = { taken: 0, turnedAway: 0, givenUp: 0 }
  let nextFreeMs = 0
  async function attempt(): Promise<void> {
    for (;;) {
      const turn = await pace.turn(never)
      const isTaken = clock.now() >= nextFreeMs
      if (isTaken) nextFreeMs = clock.now() + 60_000 / perMinute
      await clock.sleep(isTaken ? latencyMs : 5)
      if (isTaken) {
        counts.taken++
        pace.taken(turn)
        return
      }
      counts.turnedAway++
      if (pace.turnedAway(turn, 1_000) <= 20) continue
      counts.givenUp++
      return
    }
  }
  let left = 200
  const send = async () => {
    while (left-- > 0) await attempt()
  }
  await Promise.all(Array.from({ length: 16 }, send))
  return counts
}

test.each([
  ['one a second', { perMinute: 60, latencyMs: 50 }],
  ['one a second, slowly', { perMinute: 60, latencyMs: 30_000 }],
  ['ten a minute', { perMinute: 10, latencyMs: 500 }],
  ['twenty a second', { perMinute: 1_200, latencyMs: 500 }],
])('a target that takes %s loses none of its attempts, and turns few away', async (_name, limit) => {
  const { taken, turnedAway, givenUp } = await attackLimited(limit)
  expect([taken, givenUp]).toEqual([200, 0])
  expect(turnedAway).toBeLessThan(300)
})
