import { expect, test } from '@jest/globals'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { turns } from '#tests/support/hand-driven-group.ts'
import type { Assigned } from './assignment.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'
import { createGaps } from './watch-gaps.ts'

/** A partition that stands at 20, and what has been counted as gone. */
function watch() {
  const place = { topic: 't', partition: 1, next: 20n } as Assigned
  const metrics = createMetrics()
  const world = { place, low: 0, nowMs: 0, asked: 0, answers: Promise.resolve() }
  const clock = { now: () => world.nowMs, sleep: () => Promise.resolve() }
  const gaps = createGaps({
    groupId: 'g',
    readEnds: async () => {
      world.asked++
      await world.answers
      return [{ partition: 1, low: String(world.low) }]
    },
    assigned: () => [place],
    clock,
    log: createLog('test', 'silent'),
    metrics: createConsumerMetrics(metrics, 'g', clock),
  })
  const skipped = async () =>
    (await metrics.registry.getSingleMetric('sluice_kafka_skipped_records_total')?.get())?.values[0]?.value ??
    0
  const look = async () => {
    world.nowMs += 30_000
    gaps.look()
    await turns()
    return skipped()
  }
  return { world, gaps, look, skipped }
}

test('records that were deleted with nothing behind them are counted once, and the batch that comes later tells of the rest', async () => {
  const { world, gaps, look, skipped } = watch()
  await look()
  expect(await look()).toBe(0)
  world.low = 35
  expect(await look()).toBe(15)
  expect(await look()).toBe(15)
  world.low = 40
  expect(await look()).toBe(20)
  gaps.report(world.place, 22n, 42n)
  expect(await skipped()).toBe(22)
  // What is gone of what comes behind that counts again.
  world.place.next = 60n
  gaps.report(world.place, 5n, 65n)
  expect(await skipped()).toBe(27)
})

test('what moves, or is being worked on, or moves while it is asked about is not looked at; nor is anything twice in half a minute', async () => {
  const { world, gaps, look } = watch()
  await look()
  world.low = 35
  world.place.next = 21n
  expect([await look(), world.asked]).toEqual([0, 0])
  gaps.look()
  await turns()
  expect(world.asked).toBe(0)
  const meanwhile: number[] = []
  await gaps.during(world.place, async () => {
    meanwhile.push(await look())
  })
  expect(meanwhile).toEqual([0])
  const answer = Promise.withResolvers<undefined>()
  world.answers = answer.promise.then(() => undefined)
  await look()
  world.place.next = 36n
  answer.resolve(undefined)
  expect(await look()).toBe(0)
})
