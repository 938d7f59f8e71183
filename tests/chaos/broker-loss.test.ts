import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import kafkajs, { type Kafka } from 'kafkajs'
import { Pool } from 'pg'
import { awaitTopics, createTopics } from '#infra/create-topics.ts'
import { startKafkaCluster, type KafkaCluster } from '#infra/embedded/start-kafka-cluster.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { topics } from '#schemas/topics.ts'
import { examineTopics } from '#scripts/examine/examine-topics.ts'
import { findSystem } from '#scripts/examine/find-system.ts'
import { createClusterWatch } from '#services/sink/upkeep/watch-cluster.ts'
import { readLog } from '../support/read-log.ts'
import { until } from '../support/until.ts'

/** Each broker once. */
const rounds = Number(process.env['CHAOS_ROUNDS'] ?? 3)
const topic = 'ledger'
/** kafkajs retries for 5 s while a partition has no leader, and longer on a busy machine. */
const waitMs = 180_000
/** Only Kafka is used. */
const elsewhere = { SCHEMA_REGISTRY_URL: 'http://localhost:1', DATABASE_URL: 'postgres://localhost:1/none' }
const log = createLog('broker-loss', process.env['CHAOS_LOG'] === undefined ? 'silent' : 'warn')
const cacheDirectory = join(import.meta.dirname, '..', '..', '.cache')

/** Sends a batch of keys: our producer, or kafkajs's own to show that the test can fail. */
interface Sender {
  send(keys: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/** `CHAOS_PRODUCER=kafkajs` tests the plain client, which loses records here (tulios/kafkajs#1303). */
const plain = process.env['CHAOS_PRODUCER'] === 'kafkajs'

describe('three brokers, one of them killed while records are sent', () => {
  let directory: string
  let cluster: KafkaCluster
  let kafka: Kafka

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-brokers-'))
    cluster = await startKafkaCluster({ brokers: 3, directory, cacheDirectory, say: () => undefined })
    kafka = createKafka({ KAFKA_BROKERS: cluster.addresses }, { clientId: 'broker-loss', log })
    await createLedgerTopic(kafka)
  }, 300_000)

  afterAll(async () => {
    await cluster.stop()
    await rm(directory, { recursive: true, force: true })
  })

  test(`nothing acknowledged is missing after ${rounds} kills`, async () => {
    const metrics = createMetrics()
    const sender = plain ? await plainSender(kafka) : sluiceSender(kafka, metrics)
    const acknowledged = new Set<string>()
    const traffic = keepSending(sender, acknowledged)
    for (let round = 0; round < rounds; round++) {
      await moreThan(acknowledged, 2_000)
      const victim = cluster.brokers[round % cluster.brokers.length]
      if (victim === undefined) throw new Error('no broker to kill')
      await victim.kill()
      await moreThan(acknowledged, 2_000)
      await victim.restart()
      await allInSync(kafka)
    }
    await traffic.stop()
    await sender.stop()
    const inLog = await readLog(kafka, topic)
    const keys = new Set(inLog.map(({ key }) => key))
    const missing = [...acknowledged].filter((key) => !keys.has(key))
    const twice = inLog.length - keys.size
    console.log(
      `${acknowledged.size} records acknowledged, ${missing.length} missing, ${twice} twice, ${traffic.rejected()} sends rejected; ${await resends(metrics)}`,
    )
    expect(missing).toEqual([])
    expect(acknowledged.size).toBeGreaterThan(rounds * 4_000)
  }, 600_000)

  test('a broker down, and a topic with one replica: sinks measure it and the doctor names it', async () => {
    const thin = `doctor.${topics.eventRaised.name}`
    await withAdmin(kafka, async (admin) => {
      await admin.createTopics({
        topics: [{ topic: thin, numPartitions: 6, replicationFactor: 1 }],
        waitForLeaders: false,
      })
      await awaitTopics(admin, [{ name: thin, partitions: 6 }])
    })
    await createTopics({ kafka, prefix: 'doctor.', replicationFactor: 3, log })
    const environment = { KAFKA_BROKERS: cluster.addresses.join(','), TOPIC_PREFIX: 'doctor.', ...elsewhere }
    const system = { ...(await findSystem({ state: undefined, operations: [] }, environment)), kafka }
    const wrong = async () =>
      (await examineTopics(system))
        .filter(({ check, state }) => check === 'topics' && state !== 'ok')
        .map(({ what }) => what)
    // The new configuration takes a moment to apply.
    await until(
      async () => (await wrong()).join() === `${thin} is kept 1 times, not 3`,
      waitMs,
      async () => (await wrong()).join('; '),
    )

    const victim = cluster.brokers[0]
    await victim?.kill()
    const metrics = createMetrics()
    const names = [topic, thin]
    const watch = createClusterWatch({
      kafka,
      pool: new Pool(),
      registryUrl: 'http://localhost:1',
      topicNames: names,
      log,
      metrics,
    })
    const measured = async (name: string, of: string) => {
      await watch()
      return last(name, of)
    }
    const last = async (name: string, of: string) => {
      const { values = [] } =
        (await metrics.registry.getSingleMetric(`sluice_cluster_${name}_partitions`)?.get()) ?? {}
      return values.find(({ labels }) => (labels as { topic?: string }).topic === of)?.value
    }
    // All partitions of one topic lost a replica; of the other topic, those with their only replica there are
    // down.
    await until(
      async () =>
        (await measured('under_replicated', topic)) === 6 && ((await last('offline', thin)) ?? 0) > 0,
      waitMs,
    )
    expect(await last('under_min_isr', topic)).toBe(0)
    await victim?.restart()
    await until(async () => (await measured('under_replicated', topic)) === 0, waitMs)
  }, 600_000)
})

function sluiceSender(kafka: Kafka, metrics: ReturnType<typeof createMetrics>): Sender {
  const producer = createProducer({ kafka, log, metrics, sendTimeoutMs: 30_000 })
  return {
    send: (keys) => producer.send(keys.map((key) => ({ topic, key, value: valueOf(key) }))),
    stop: () => producer.stop(),
  }
}

async function plainSender(kafka: Kafka): Promise<Sender> {
  const producer = kafka.producer({ idempotent: true, retry: { retries: 30, maxRetryTime: 1_000 } })
  await producer.connect()
  return {
    send: async (keys) => {
      const messages = keys.map((key) => ({ key, value: valueOf(key) }))
      await producer.sendBatch({
        acks: -1,
        compression: kafkajs.CompressionTypes.ZSTD,
        topicMessages: [{ topic, messages }],
      })
    },
    stop: () => producer.disconnect(),
  }
}

function valueOf(key: string): Buffer {
  return Buffer.from(`{"prompt":"${key} ${'what is the weather like '.repeat(8)}"}`)
}

/** Three senders with batches of 100. The outcome of a rejected send is unknown, so it is not counted. */
function keepSending(sender: Sender, acknowledged: Set<string>) {
  let running = true
  let rejected = 0
  const one = async (name: string) => {
    for (let batch = 0; running; batch++) {
      const keys = Array.from({ length: 100 }, (_unused, index) => `${name}-${batch}-${index}`)
      try {
        await sender.send(keys)
        for (const key of keys) acknowledged.add(key)
      } catch (error) {
        rejected++
        log.warn({ err: error }, 'send rejected')
      }
      await delay(50)
    }
  }
  const senders = ['a', 'b', 'c'].map(one)
  return {
    rejected: () => rejected,
    stop: async () => {
      running = false
      await Promise.all(senders)
    },
  }
}

async function moreThan(acknowledged: Set<string>, count: number): Promise<void> {
  const wanted = acknowledged.size + count
  const deadline = Date.now() + 180_000
  while (acknowledged.size < wanted) {
    if (Date.now() > deadline)
      throw new Error('the producer is stuck: it was not acknowledged enough in three minutes')
    await delay(20)
  }
}

async function createLedgerTopic(kafka: Kafka): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  const configEntries = [{ name: 'min.insync.replicas', value: '2' }]
  await admin.createTopics({
    topics: [{ topic, numPartitions: 6, replicationFactor: 3, configEntries }],
    waitForLeaders: false,
  })
  await awaitTopics(admin, [{ name: topic, partitions: 6 }])
  await admin.disconnect()
}

async function allInSync(kafka: Kafka): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    for (;;) {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
      if (topics[0]?.partitions.every(({ isr }) => isr.length === 3) === true) return
      await delay(200)
    }
  } finally {
    await admin.disconnect()
  }
}

async function resends(metrics: ReturnType<typeof createMetrics>): Promise<string> {
  const text = await metrics.registry.metrics()
  return text
    .split('\n')
    .filter((line) => /^sluice_producer_(resends|connections|batches)/.test(line))
    .join(', ')
}
