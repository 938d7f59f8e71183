import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from '@jest/globals'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { watchThread } from './watch-thread.ts'

const never = new AbortController().signal
const limits = { processorMs: 10_000, wallMs: 120_000 }

/** A clock on which time passes at once, and a thread with `share` of a CPU, for `workMs` of work. */
function starve(share: number, workMs: number) {
  let nowMs = 0
  const over = new AbortController()
  const clock: Clock = {
    now: () => nowMs,
    async sleep(delayMs, signal) {
      // Shorter waits go first.
      for (let passed = 0; passed < delayMs && signal?.aborted !== true; passed += 10) {
        await Promise.resolve()
        if (delayMs === limits.wallMs) nowMs += 10
      }
    },
  }
  const usedMs = () => Math.min(workMs, nowMs * share)
  const cpuUsage = () => {
    if (usedMs() === workMs) over.abort()
    return Promise.resolve({ user: 5_000_000 + usedMs() * 1_000, system: 0 })
  }
  const begun = Promise.resolve({ thread: { cpuUsage }, beganUs: 5_000_000 })
  return { watched: watchThread(begun, limits, clock, over.signal), usedMs, passedMs: () => nowMs }
}

test('a thread that gets a hundredth of a processor is given up for its own time alone, or where it hangs', async () => {
  const cheap = starve(0.01, 240)
  expect(await cheap.watched).toBeUndefined()
  expect(cheap.passedMs()).toBeGreaterThan(limits.processorMs)
  const dear = starve(0.5, Infinity)
  expect(await dear.watched).toBe('too_slow')
  expect(dear.usedMs()).toBeGreaterThanOrEqual(limits.processorMs)
  expect(await starve(0, Infinity).watched).toBe('hung')
})

test.each([
  ['works', 'for (;;);', 'too_slow'],
  ['does nothing', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', 'hung'],
  ['has ended', 'process.exit()', undefined],
])('a thread that %s', async (_what, code, exceeded) => {
  const thread = new Worker(code, { eval: true })
  // Before it is online its CPU time cannot be read, as after its end.
  await once(thread, exceeded === undefined ? 'exit' : 'online')
  const begun = Promise.resolve({ thread, beganUs: 0 })
  const given = exceeded === 'hung' ? { processorMs: 60_000, wallMs: 500 } : { ...limits, processorMs: 500 }
  try {
    expect(await watchThread(begun, given, systemClock, never)).toBe(exceeded)
  } finally {
    await thread.terminate()
  }
})

test('a task that never begins is given up by the clock, and what is over is watched no more', async () => {
  const pending = Promise.withResolvers<never>().promise
  expect(await watchThread(pending, { ...limits, wallMs: 1 }, systemClock, never)).toBe('hung')
  expect(await watchThread(pending, limits, systemClock, AbortSignal.abort())).toBeUndefined()
})
