import { once } from 'node:events'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import kafkajs, { type SASLOptions } from 'kafkajs'
import { expect, jest, test } from '@jest/globals'
import {
  consumerKinds,
  consumerOf,
  createConsumerBench,
  type ConsumerBench,
  type ConsumerKind,
} from '#tests/support/consumer-bench.ts'
import { openLine } from '#tests/support/cuttable-line.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { until } from '#tests/support/until.ts'

jest.setTimeout(300_000)

const script = join(import.meta.dirname, '../../tests/support/consumer-process.ts')
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `value ${from + index}`)

/** A topic, and processes that consume it and write down what they have handled. */
interface World {
  bench: ConsumerBench
  spawnConsumer: () => ChildProcess
  handled: () => Promise<string[]>
  committedSum: () => Promise<number>
}

async function inWorld(kind: ConsumerKind, work: (world: World) => Promise<void>): Promise<void> {
  const bench = await createConsumerBench(kind)
  const directory = await mkdtemp(join(tmpdir(), 'sluice-consumer-'))
  const out = join(directory, 'out')
  const children: ChildProcess[] = []
  const spawnConsumer = () => {
    const [broker = ''] = testInfrastructure().brokers
    const place = ['--broker', broker, '--topic', bench.topic, '--group', bench.groupId]
    const child = spawn(process.execPath, [script, '--kind', kind, ...place, '--out', out], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    children.push(child)
    return child
  }
  try {
    await work({
      bench,
      spawnConsumer,
      handled: async () => (await readFile(out, 'utf8').catch(() => '')).split('\n').slice(0, -1),
      committedSum: async () =>
        (await bench.committed()).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0),
    })
  } finally {
    await Promise.all(children.map(endNow))
    await bench.close()
    await rm(directory, { recursive: true })
  }
}

async function endNow(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

// At once: each mostly waits until the group has missed the member that was killed.
test.concurrent.each(consumerKinds)(
  'the %s consumer: kill -9 in the middle of a batch loses nothing',
  (kind) =>
    inWorld(kind, async ({ bench, spawnConsumer, handled, committedSum }) => {
      // The first one has to be under way still when the news of its first records has come.
      const count = kind === 'parallel' ? 2_000 : 400
      await bench.send(numbered(count))
      const first = spawnConsumer()
      await until(async () => (await handled()).length > 60)
      await endNow(first)
      const before = (await handled()).length
      expect(before).toBeLessThan(count)
      const second = spawnConsumer()
      await until(async () => (await committedSum()) === count)
      const exited = once(second, 'exit')
      second.kill('SIGTERM')
      expect(await exited).toEqual([0, null])
      const all = await handled()
      expect(new Set(all).size).toBe(count)
      // What was under way when the first one died is done twice: a batch, or a window of each partition.
      expect(all.length).toBeLessThanOrEqual(count + 3 * 32)
      expect((await bench.committed()).map(({ metadata }) => metadata)).toEqual([null, null, null])
    }),
)

test.concurrent.each(consumerKinds)(
  'the %s consumer: a record that kills its process is dead-lettered at the third try, and its neighbours are handled',
  (kind) =>
    inWorld(kind, async ({ bench, spawnConsumer, handled, committedSum }) => {
      const values = [...numbered(50), 'killer', ...numbered(50, 50)]
      await bench.send(values)
      let deaths = 0
      while ((await committedSum()) < values.length) {
        const child = spawnConsumer()
        const hasEnded = () => child.signalCode !== null || child.exitCode !== null
        await until(async () => hasEnded() || (await committedSum()) === values.length)
        if (child.signalCode === 'SIGKILL') deaths += 1
        if (deaths > 3) break
      }
      expect(deaths).toBe(3)
      expect(new Set(await handled()).size).toBe(100)
      const letters = await bench.read(`${bench.topic}.dlq`)
      expect(letters.map(({ value, headers }) => [value?.toString(), headers['sluice-dlq-code']])).toEqual([
        ['killer', 'CRASHED'],
      ])
    }),
)

test.concurrent(
  'a record whose members lose the group again and again, and live, is not blamed',
  async () => {
    const bench = await createConsumerBench('thrown-out', 1)
    const begun: { go: () => void }[] = []
    const group = { sessionTimeoutMs: 6_000, heartbeatIntervalMs: 500, rebalanceTimeoutMs: 1_000 }
    // Each holds the record until the group has given it up and the other one has begun; the fifth finishes.
    const handle = async () => {
      begun.at(-1)?.go()
      const released = Promise.withResolvers<undefined>()
      begun.push({ go: () => released.resolve(undefined) })
      if (begun.length < 5) await released.promise
      return undefined
    }
    const members = [0, 1].map(() => consumerOf({ kind: 'batch', bench, handle, batch: { group } }))
    try {
      await bench.send(['held'])
      await members[0]?.start()
      await until(() => begun.length === 1)
      await members[1]?.start()
      await until(async () => (await bench.committed())[0]?.offset === '1')
      // Once more where the fifth's commit came after a rebalance.
      expect(begun.length).toBeGreaterThanOrEqual(5)
      expect(await bench.read(`${bench.topic}.dlq`)).toEqual([])
    } finally {
      for (const { go } of begun) go()
      for (const member of members) await member.stop()
      await bench.close()
    }
  },
)

test.concurrent.each(consumerKinds)(
  'the %s consumer: a cluster that is away at the start, and a topic, is waited for, and a stop ends that; one that refuses ends the start',
  (kind) =>
    inWorld(kind, async ({ bench }) => {
      await bench.send(numbered(5))
      const line = await openLine(`http://${testInfrastructure().brokers[0] ?? ''}`)
      line.cut()
      const seen: string[] = []
      const begin = (sasl?: SASLOptions, topics = bench.topics) => {
        const kafka = new kafkajs.Kafka({
          brokers: [new URL(line.url).host],
          retry: { retries: 0 },
          logLevel: kafkajs.logLevel.NOTHING,
          ...(sasl === undefined ? {} : { sasl }),
        })
        const handle = (value: string) => Promise.resolve(void seen.push(value))
        const service = consumerOf({ kind, bench: { ...bench, kafka, topics }, handle })
        return { service, starting: service.start() }
      }
      const waits = async () => {
        const metric = await bench.metrics.registry.getSingleMetric('sluice_kafka_unreached')?.get()
        return metric?.values[0]?.value === 1
      }
      const hasty = begin()
      await until(waits)
      await hasty.service.stop()
      await hasty.starting
      expect(await waits()).toBe(false)
      const patient = begin()
      await until(waits)
      expect(patient.service.health().status).toBe('starting')
      line.mend()
      await patient.starting
      await until(() => seen.length === 5)
      expect(await waits()).toBe(false)
      await patient.service.stop()
      // So is a topic that somebody has deleted, until it is recreated.
      const deleted = `${bench.topic}.deleted`
      const waiter = begin(undefined, [deleted])
      await until(waits)
      expect(waiter.service.health().status).toBe('starting')
      await bench.admin.createTopics({ topics: [{ topic: deleted }], waitForLeaders: false })
      await waiter.starting
      expect(await waits()).toBe(false)
      // This broker knows of no passwords, and says so.
      const refused = begin({ mechanism: 'plain', username: 'nobody', password: 'nothing' })
      await expect(refused.starting).rejects.toThrow('not valid given the current SASL state')
      for (const { service } of [waiter, refused]) await service.stop()
      await line.close()
    }),
)
