import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { KafkaMessage } from 'kafkajs'
import { PermanentError } from '#runtime/errors.ts'
import { createConsumerMetrics } from '#runtime/kafka/consumer-metrics.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createDeadLetters } from '#runtime/kafka/dead-letters.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { deadLetterRoomBytes } from '#schemas/record-limits.ts'
import { defaultTopicSettings, topics, topicsToCreate, type TopicSettings } from '#schemas/topics.ts'
import { startCappedKafka } from '#tests/support/start-capped-kafka.ts'
import { checkTopics } from './check-topics.ts'
import { awaitTopics, createTopics } from './create-topics.ts'

const cacheDirectory = process.env['SLUICE_CACHE_DIR'] ?? join(import.meta.dirname, '..', '.cache')
const cap = 8 * 1024 * 1024
const capped: TopicSettings = { ...defaultTopicSettings, maxRecordBytes: cap }
const log = createLog('refused-topics-test', 'silent')
let directory: string
let broker: Awaited<ReturnType<typeof startCappedKafka>>
const kafka = () => createKafka({ KAFKA_BROKERS: [broker.address] }, { clientId: 'refused-topics-test', log })
const create = (prefix: string, settings = capped, replicationFactor = 1) =>
  createTopics({ kafka: kafka(), prefix, replicationFactor, settings, log })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-refused-'))
  broker = await startCappedKafka(directory, cacheDirectory)
}, 300_000)

afterAll(async () => {
  await broker.stop()
  await rm(directory, { recursive: true, force: true })
})

test("explains a provider's policy in one sentence: topic, setting, requested and allowed value, remedy", async () => {
  await expect(create('policy.', defaultTopicSettings)).rejects.toMatchObject({
    name: 'CannotStart',
    message: expect.stringMatching(
      /^Kafka refuses topic policy\.llm\.request\.ephemeral \(POLICY_VIOLATION\), requested: max\.message\.bytes 16777216; Kafka says: max\.message\.bytes must be at most 8388608; \d+ other topics are refused too: set KAFKA_MAX_RECORD_BYTES, or have the topics created by someone who may .*--check-topics-only$/,
    ),
  })
})

test('explains more replicas than brokers, and an invalid value', async () => {
  await expect(create('copies.', capped, 3)).rejects.toThrow(
    /^Kafka refuses topic copies\.\S+ \(INVALID_REPLICATION_FACTOR\), requested: replication factor 3; Kafka says: .*only 1 broker/,
  )
  await expect(create('value.', { ...capped, maxRecordBytes: 1 })).rejects.toThrow(
    /^Kafka refuses topic value\.\S+ \(INVALID_CONFIG\), requested: max\.message\.bytes -65535; Kafka says: Invalid value -65535 /,
  )
})

test('with KAFKA_MAX_RECORD_BYTES topics are created, and a dead letter can hold the largest record', async () => {
  await create('made.')
  expect(await checkTopics(kafka(), 'made.', capped)).toEqual([])
  const topic = `made.${topics.requestLogged.name}`
  const buried = await burying()
  // The batch adds key, offsets and lengths.
  const value = randomBytes(cap - deadLetterRoomBytes - 1_000)
  await buried.producer.send([{ topic, key: 'k', value }])
  await buried.bury(topic, value)
  expect(await buried.read(`${topic}.dlq`)).toEqual([value.length])
  await buried.stop()
})

test('if both topics have the same limit, a dead letter that is too large with its headers omits the value', async () => {
  const topic = 'foreign.calls'
  await withAdmin(kafka(), async (admin) => {
    const names = [topic, `${topic}.dlq`]
    const configEntries = [{ name: 'max.message.bytes', value: String(cap) }]
    await admin.createTopics({
      topics: names.map((name) => ({ topic: name, numPartitions: 1, configEntries })),
      waitForLeaders: false,
    })
    await awaitTopics(
      admin,
      names.map((name) => ({ name, partitions: 1 })),
    )
  })
  const buried = await burying()
  // zstd adds 3 bytes per 128 kB to what it cannot compress.
  const value = randomBytes(cap - 400)
  await buried.producer.send([{ topic, key: 'k', value }])
  await buried.bury(topic, value)
  expect(await buried.read(`${topic}.dlq`)).toEqual([0])
  await buried.stop()
})

test('topics of another owner are compared and not changed', async () => {
  const wanted = topicsToCreate('theirs.', capped)
  const theirs = wanted.slice(1).map(({ name, config }) => ({
    topic: name,
    numPartitions: 8,
    configEntries: Object.entries({ ...config, 'max.message.bytes': String(cap) }).map(([key, value]) => ({
      name: key,
      value,
    })),
  }))
  await withAdmin(kafka(), async (admin) => {
    await admin.createTopics({ topics: theirs, waitForLeaders: false })
    await awaitTopics(
      admin,
      theirs.map(({ topic, numPartitions }) => ({ name: topic, partitions: numPartitions })),
    )
  })
  const check = (settings = capped) => checkTopics(kafka(), 'theirs.', settings)
  expect(await check()).toEqual([
    'theirs.llm.request.logged is missing, or this user may not see it (Describe)',
  ])
  const more = await check({ ...capped, partitions: new Map([['event.raised', 9]]) })
  expect(more).toContain('theirs.event.raised has 8 partitions, not 9')
  expect(await check(defaultTopicSettings)).toContain(
    'theirs.safety_score_jobs: max.message.bytes is 8388608, not 16777216 or more',
  )
  await withAdmin(kafka(), async (admin) => {
    expect(await admin.listTopics()).not.toContain('theirs.llm.request.logged')
  })
})

/** A producer like the services', dead letters through it, and the length of each value in a topic. */
async function burying() {
  const metrics = createMetrics()
  const producer = createProducer({ kafka: kafka(), log, metrics, maxRecordBytes: cap })
  await producer.start()
  const send = createDeadLetters({
    producer,
    groupId: 'g',
    clock: systemClock,
    log,
    metrics: createConsumerMetrics(createMetrics(), 'g'),
    omitValue: () => false,
  })
  return {
    producer,
    stop: () => producer.stop(),
    bury: (topic: string, value: Buffer) => {
      const message = { key: Buffer.from('k'), value, headers: {}, timestamp: '1', offset: '0' }
      const raw = { topic, partition: 0, offset: 0n, message: message as unknown as KafkaMessage }
      return send([{ raw, error: new PermanentError('BAD', 'it cannot be stored') }])
    },
    read: async (topic: string) => {
      const consumer = kafka().consumer({ groupId: `read-${topic}` })
      const lengths: number[] = []
      const done = Promise.withResolvers<undefined>()
      await consumer.connect()
      await consumer.subscribe({ topics: [topic], fromBeginning: true })
      await consumer.run({
        eachMessage: ({ message }) => {
          lengths.push(message.value?.length ?? 0)
          done.resolve(undefined)
          return Promise.resolve()
        },
      })
      await done.promise
      await consumer.disconnect()
      return lengths
    },
  }
}
