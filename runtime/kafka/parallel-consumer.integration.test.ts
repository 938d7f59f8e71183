import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { setTimeout } from 'node:timers/promises'
import type { Admin, ConsumerConfig, Kafka } from 'kafkajs'
import { createMetrics } from '../metrics.ts'
import type { Service } from '../service.ts'
import {
  consumerOf,
  createConsumerBench,
  type ConsumerBench,
  type ConsumerParts,
} from '#tests/support/consumer-bench.ts'
import { until } from '#tests/support/until.ts'

jest.setTimeout(300_000)

let bench: ConsumerBench
let consumer: Service | undefined
const consume = async (parts: Pick<ConsumerParts, 'handle' | 'parallel'>) => {
  consumer = consumerOf({ kind: 'parallel', bench, ...parts })
  await consumer.start()
}
const committed = async (partition: number) =>
  Number((await bench.committed()).find((entry) => entry.partition === partition)?.offset)
const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`)

beforeEach(async () => {
  bench = await createConsumerBench('parallel')
})
afterEach(async () => {
  await consumer?.stop()
  await bench.close()
})

test('a record that hangs delays no other partition, and its own only by the window', async () => {
  const hanging = Promise.withResolvers<undefined>()
  const seen: string[] = []
  await bench.send(['hang', ...numbered('same', 50)], 0)
  await bench.send(numbered('other', 200), 1)
  await consume({
    parallel: { window: 10, concurrency: 4 },
    handle: (value) => {
      seen.push(value)
      return value === 'hang' ? hanging.promise : Promise.resolve(undefined)
    },
  })
  await until(async () => (await committed(1)) === 200)
  expect(seen.filter((value) => value.startsWith('same'))).toHaveLength(9)
  expect(await committed(0)).toBe(0)
  hanging.resolve(undefined)
  await until(async () => (await committed(0)) === 51)
})

test('a record that is not due holds its partition back, not the others, and begins when it is', async () => {
  const begun = new Map<string, number>()
  await consume({
    parallel: { notBefore: ({ value }) => (value.startsWith('due ') ? Number(value.slice(4)) : 0) },
    handle: (value) => {
      begun.set(value, Date.now())
      return Promise.resolve(undefined)
    },
  })
  const [dueMs, laterMs] = [Date.now() + 2_000, Date.now() + 3_600_000]
  await bench.send([`due ${dueMs}`, 'behind it'], 0)
  await bench.send(numbered('now', 20), 1)
  await bench.send([`due ${laterMs}`, 'behind that'], 2)
  await until(async () => (await committed(0)) === 2 && (await committed(1)) === 20)
  expect(begun.get(`due ${dueMs}`)).toBeGreaterThanOrEqual(dueMs)
  expect(begun.get('behind it')).toBeGreaterThanOrEqual(dueMs)
  await bench.send(['now too'], 1)
  await until(async () => (await committed(1)) === 21)
  expect(begun.size).toBe(23)
})

test('what is held in memory is bounded, and everything is handled all the same', async () => {
  const size = 20_000
  const values = numbered('x'.repeat(size), 300)
  await bench.send(values, 0)
  const seen: string[] = []
  await consume({
    parallel: { maxInFlightBytes: 200_000, group: { maxBytesPerPartition: 100_000 } },
    handle: async (value) => {
      await setTimeout(5)
      seen.push(value)
      return undefined
    },
  })
  await until(async () => (await committed(0)) === 300)
  expect(new Set(seen).size).toBe(300)
  expect(seen).toHaveLength(300)
})

test('handlers that outlast the drain are told to end, and their records are left for the next consumer', async () => {
  await bench.send(numbered('slow', 6), 0)
  let begun = 0
  await consume({
    parallel: { drainMs: 100, concurrency: 3 },
    handle: (_value, signal) => {
      begun += 1
      return new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('told to end'))),
      )
    },
  })
  await until(() => begun === 3)
  await consumer?.stop()
  await expect(consumer?.done).resolves.toBeUndefined()
  expect((await bench.committed())[0]).toMatchObject({ offset: '0', metadata: null })
  const seen: string[] = []
  await consume({
    handle: (value) => {
      seen.push(value)
      return Promise.resolve(undefined)
    },
  })
  await until(async () => (await committed(0)) === 6)
  expect(seen).toEqual(numbered('slow', 6))
})

test('of a partition that the group dealt to another nothing is reported, however long the dealing takes', async () => {
  const dealing = Promise.withResolvers<undefined>()
  let deals = 0
  const admin = bench.kafka.admin()
  const fetchOffsets: Admin['fetchOffsets'] = async (asked) => {
    if (++deals === 2) await dealing.promise
    return admin.fetchOffsets(asked)
  }
  const kafka = {
    consumer: (settings: ConsumerConfig) => bench.kafka.consumer(settings),
    admin: () => ({ ...admin, fetchOffsets }),
  } as unknown as Kafka
  const first = { ...bench, kafka, metrics: createMetrics() }
  const age = async () => {
    const gauge = first.metrics.registry.getSingleMetric('sluice_kafka_oldest_unfinished_age_seconds')
    return (await gauge?.get())?.values[0]?.value ?? 0
  }
  for (const partition of [0, 1, 2]) await bench.send(['wait'], partition)
  const work = Promise.withResolvers<undefined>()
  consumer = consumerOf({ kind: 'parallel', bench: first, handle: () => work.promise })
  await consumer.start()
  await until(async () => (await age()) > 0)
  const second = consumerOf({ kind: 'parallel', bench, handle: () => Promise.resolve(undefined) })
  const joining = second.start()
  await until(() => deals === 2)
  // Twice as long as between two of its reports.
  await setTimeout(400)
  work.resolve(undefined)
  dealing.resolve(undefined)
  await joining
  await until(async () => (await bench.committed()).every(({ offset }) => offset === '1'))
  try {
    await until(async () => (await age()) === 0, 20_000)
  } finally {
    await second.stop()
  }
})
