import { describe, expect, test } from '@jest/globals'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createPeriodicTask } from './periodic-task.ts'

const log = createLog('test', 'silent')

/** Sleeps end at once and are written down. */
function countingClock(): Clock & { slept: number[] } {
  const slept: number[] = []
  return {
    slept,
    now: () => 0,
    sleep: (delayMs) => {
      slept.push(delayMs)
      return new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('a periodic task', () => {
  test('goes on at once while there is more to do, then waits for the interval', async () => {
    const clock = countingClock()
    const answers = [true, true, false]
    const ended = Promise.withResolvers<boolean>()
    const task = createPeriodicTask({
      name: 't',
      intervalMs: 7,
      clock,
      log,
      metrics: createMetrics(),
      run: () => Promise.resolve(answers.shift() ?? ended.promise),
    })
    await task.start()
    while (answers.length > 0) await new Promise((resolve) => setImmediate(resolve))
    ended.resolve(false)
    await task.stop()
    await task.done
    // Once behind the third run, and perhaps behind the last.
    expect(clock.slept[0]).toBe(7)
    expect(clock.slept.length).toBeLessThan(3)
  })

  test('tries transient failures again with growing pauses and is degraded meanwhile', async () => {
    const clock = countingClock()
    const metrics = createMetrics()
    let runs = 0
    const recovered = Promise.withResolvers<undefined>()
    const seen: string[] = []
    const task = createPeriodicTask({
      name: 't',
      intervalMs: 1,
      clock,
      log,
      metrics,
      run: () => {
        seen.push(task.health().status)
        if (++runs <= 8 || runs === 10)
          return Promise.reject(new TransientError('POSTGRES_UNAVAILABLE', 'away'))
        if (runs === 12) recovered.resolve(undefined)
        return Promise.resolve(false)
      },
    })
    await task.start()
    await recovered.promise
    await task.stop()
    const growing = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
    // In two parts: anyone who wakes it ends the second.
    const parts = (ms: number) => [Math.min(ms, 2000), Math.max(0, ms - 2000)]
    expect(clock.slept.slice(0, 20)).toEqual([...growing.flatMap(parts), 1, ...parts(500), 1])
    expect(seen.slice(0, 2)).toEqual(['ok', 'degraded'])
    expect(seen[9]).toBe('ok')
    const text = await metrics.registry.metrics()
    expect(text).toContain('sluice_sink_task_runs_total{task="t",outcome="failed"} 9')
    expect(text).toContain('sluice_sink_task_last_success_timestamp_seconds{task="t"} 0')
  })

  test('that failed and is woken does not wait out its pause', async () => {
    const slept: number[] = []
    const longPause = Promise.withResolvers<undefined>()
    let runs = 0
    const tried = Promise.withResolvers<undefined>()
    const task = createPeriodicTask({
      name: 't',
      intervalMs: 7,
      clock: {
        now: () => 0,
        sleep: (ms, signal) => {
          slept.push(ms)
          if (ms <= 2000) return new Promise((resolve) => setImmediate(resolve))
          longPause.resolve(undefined)
          return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()))
        },
      },
      log,
      metrics: createMetrics(),
      run: () => {
        if (++runs <= 4) return Promise.reject(new TransientError('POSTGRES_UNAVAILABLE', 'away'))
        tried.resolve(undefined)
        return Promise.resolve(false)
      },
    })
    await task.start()
    await Promise.race([longPause.promise, tried.promise])
    task.wake()
    await tried.promise
    await task.stop()
    expect(slept.slice(0, 7)).toEqual([500, 0, 1000, 0, 2000, 0, 2000])
  })

  test('shows its last success by the clock as it is: one that had been ahead would hide for as long that the task stalls', async () => {
    let nowMs = 86_400_000
    const metrics = createMetrics()
    const done = Promise.withResolvers<undefined>()
    const task = createPeriodicTask({
      name: 't',
      intervalMs: 7,
      clock: { ...countingClock(), now: () => nowMs },
      log,
      metrics,
      run: () => (done.resolve(undefined), Promise.resolve(false)),
    })
    nowMs = 60_000
    await task.start()
    await done.promise
    await task.stop()
    const text = await metrics.registry.metrics()
    expect(text).toContain('sluice_sink_task_last_success_timestamp_seconds{task="t"} 60')
  })

  test('of a sink that was not elected is no success: the last one would look like now while the elected sink hangs', async () => {
    let nowMs = 60_000
    const clock = { ...countingClock(), now: () => nowMs }
    const metrics = createMetrics()
    const twice = Promise.withResolvers<undefined>()
    let runs = 0
    const task = createPeriodicTask({
      name: 't',
      intervalMs: 7,
      clock,
      log,
      metrics,
      run: () => {
        if (++runs === 2) twice.resolve(undefined)
        return Promise.resolve('not_elected' as const)
      },
    })
    nowMs = 120_000
    await task.start()
    await twice.promise
    await task.stop()
    expect(clock.slept[0]).toBe(7)
    const text = await metrics.registry.metrics()
    expect(text).toContain('sluice_sink_task_runs_total{task="t",outcome="not_elected"} 2')
    // When the process began: a task that never succeeds is missed by it.
    expect(text).toContain('sluice_sink_task_last_success_timestamp_seconds{task="t"} 60')
  })

  test.each([
    ['a defect', new TypeError('a defect')],
    ['what trying again does not cure', new PermanentError('BAD', 'for good')],
  ])('cannot go on after any other failure: %s', async (_name, error) => {
    const task = createPeriodicTask({
      name: 't',
      intervalMs: 1,
      clock: countingClock(),
      log,
      metrics: createMetrics(),
      run: () => Promise.reject(error),
    })
    await task.start()
    await expect(task.done).rejects.toBe(error)
    expect(task.health().status).toBe('failed')
    await task.stop()
  })

  test('runs once at a time, and is stopped when its run is over', async () => {
    const running = Promise.withResolvers<boolean>()
    let runs = 0
    const run = () => (runs++, running.promise)
    const shared = { clock: countingClock(), log, metrics: createMetrics() }
    const task = createPeriodicTask({ name: 't', intervalMs: 1, run, ...shared })
    await Promise.all([task.start(), task.start()])
    let isStopped = false
    const stopping = task.stop().then(() => (isStopped = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect([runs, isStopped]).toEqual([1, false])
    running.resolve(true)
    await stopping
    expect(runs).toBe(1)
  })

  test('is woken from its wait, or by what came while it ran, and stops without having been started', async () => {
    let runs = 0
    const thrice = Promise.withResolvers<undefined>()
    const task = createPeriodicTask({
      name: 't',
      intervalMs: 60_000,
      clock: systemClock,
      log,
      metrics: createMetrics(),
      run: () => {
        if (++runs === 3) thrice.resolve(undefined)
        if (runs === 1) task.wake()
        else setImmediate(() => task.wake())
        return Promise.resolve(false)
      },
    })
    await task.start()
    await thrice.promise
    await task.stop()
    const idle = createPeriodicTask({
      name: 't',
      intervalMs: 1,
      clock: systemClock,
      log,
      metrics: createMetrics(),
      run: () => Promise.resolve(false),
    })
    await idle.stop()
    await idle.done
  })
})
