import type { PlannedEvent } from './event-queue.ts'
import type { World } from './world.ts'

/** The world that provides the time; null: real time. */
let world: World | null = null

const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, now: Date.now }
const realRandom = Math.random

class Timer {
  event: PlannedEvent | null = null
  unref(): this {
    return this
  }
  ref(): this {
    return this
  }
}

function start(work: () => void, delayMs: number, repeats: boolean): Timer {
  const timer = new Timer()
  const owned = world as World
  const plan = () => {
    timer.event = owned.after(Math.max(0, delayMs), () => {
      timer.event = null
      if (repeats) plan()
      work()
    })
  }
  plan()
  return timer
}

function stop(timer: unknown): void {
  if (timer instanceof Timer && timer.event !== null) timer.event.run = null
}

type Work = (...given: unknown[]) => void

/**
 * Replaces timers, clock and random numbers by those of `active`, or restores the real ones. Handlers and
 * runtime need no changes for it.
 */
export function takeTimeFrom(active: World | null): void {
  world = active
  const isReal = active === null
  Object.assign(globalThis, {
    setTimeout: isReal
      ? real.setTimeout
      : (work: Work, ms = 0, ...given: unknown[]) => start(() => work(...given), ms, false),
    setInterval: isReal
      ? real.setInterval
      : (work: Work, ms = 0, ...given: unknown[]) => start(() => work(...given), Math.max(1, ms), true),
    setImmediate: isReal
      ? real.setImmediate
      : (work: Work, ...given: unknown[]) => start(() => work(...given), 0, false),
    clearTimeout: isReal ? real.clearTimeout : stop,
    clearInterval: isReal ? real.clearInterval : stop,
  })
  Date.now = active === null ? real.now : () => Math.floor(active.nowMs)
  Math.random = active === null ? realRandom : () => active.random.next()
}
