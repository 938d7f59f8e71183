import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import type { Decoder, Producer } from '#runtime/kafka/records.ts'
import { createBatchConsumer, type BatchConsumerOptions } from '#runtime/kafka/batch-consumer.ts'
import { createParallelConsumer, type ParallelConsumerOptions } from '#runtime/kafka/parallel-consumer.ts'
import { ok, type Outcome } from '#runtime/outcome.ts'
import type { Service } from '#runtime/service.ts'
import { createLog, type Log } from '#runtime/log.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { Admin, Kafka } from 'kafkajs'
import { deleteTopics, randomName, testInfrastructure } from './infrastructure.ts'
import { readLog, type LogRecord } from './read-log.ts'
import { until } from './until.ts'

/** A topic with its dead-letter topic, and what a consumer of it needs. */
export interface ConsumerBench {
  kafka: Kafka
  admin: Admin
  producer: Producer
  log: Log
  metrics: Metrics
  topic: string
  topics: readonly string[]
  groupId: string
  /** Sends texts, each as its own key, so that they spread over the partitions. */
  send(values: readonly string[], partition?: number): Promise<void>
  /** All records of the topic, by partition and offset. */
  read(topic: string): Promise<(LogRecord & { headers: Record<string, string> })[]>
  /** The group's committed offsets, by partition. */
  committed(): Promise<{ partition: number; offset: string; metadata: string | null }[]>
  close(): Promise<void>
}

export async function createConsumerBench(name: string, partitions = 3): Promise<ConsumerBench> {
  const prefix = randomName(name)
  const topic = `${prefix}.source`
  const log = createLog(name, (process.env['TEST_LOG_LEVEL'] ?? 'silent') as 'silent')
  const metrics = createMetrics()
  const kafka = createKafka({ KAFKA_BROKERS: testInfrastructure().brokers }, { clientId: prefix, log })
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({
    waitForLeaders: false,
    topics: [topic, `${topic}.dlq`].map((each) => ({
      topic: each,
      numPartitions: partitions,
      replicationFactor: 1,
    })),
  })
  // Wait until the broker leads every partition: kafkajs resends refused records, which stores them twice.
  for (const each of [topic, `${topic}.dlq`]) {
    await until(() =>
      admin.fetchTopicOffsets(each).then(
        () => true,
        () => false,
      ),
    )
  }
  const producer = createProducer({ kafka, log, metrics })
  await producer.start()
  const plain = kafka.producer({ allowAutoTopicCreation: false })
  await plain.connect()
  const groupId = `${prefix}.group`
  return {
    kafka,
    admin,
    producer,
    log,
    metrics,
    topic,
    topics: [topic],
    groupId,
    async send(values, partition) {
      const place = partition === undefined ? {} : { partition }
      await plain.send({
        topic,
        acks: -1,
        messages: values.map((value) => ({ key: value, value, ...place })),
      })
    },
    read: async (from) => (await readLog(kafka, from)).map(withTextHeaders),
    async committed() {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] })
      return offsets?.partitions ?? []
    },
    async close() {
      await producer.stop()
      await plain.disconnect()
      await admin.disconnect()
      await deleteTopics(prefix)
    },
  }
}

function withTextHeaders(record: LogRecord) {
  const entries = Object.entries(record.headers).map(([name, value]) => [name, String(value)] as const)
  return { ...record, headers: Object.fromEntries(entries) }
}

/** Decodes text; what begins with `poison` cannot be decoded. */
const textDecoder: Decoder<string> = {
  decode: (value) => {
    const text = value.toString('utf8')
    return text.startsWith('poison')
      ? Promise.reject(new PermanentError('UNDECODABLE', 'poison'))
      : Promise.resolve(text)
  },
}

export const consumerKinds = ['batch', 'parallel'] as const
export type ConsumerKind = (typeof consumerKinds)[number]

export interface ConsumerParts {
  kind: ConsumerKind
  bench: Pick<ConsumerBench, 'kafka' | 'producer' | 'log' | 'metrics' | 'topics' | 'groupId'>
  /** Called for each record; undefined means `ok`. */
  handle: (value: string, signal?: AbortSignal) => Promise<Outcome | undefined>
  batch?: Partial<BatchConsumerOptions<string>>
  parallel?: Partial<ParallelConsumerOptions<string>>
}

/** Either consumer with the same handler per record, and the shortest session that brokers allow. */
export function consumerOf({ kind, bench, handle, batch, parallel }: ConsumerParts): Service {
  const { kafka, producer, log, metrics, topics, groupId } = bench
  const group = { sessionTimeoutMs: 6_000, heartbeatIntervalMs: 1_000 }
  const shared = { kafka, producer, log, metrics, topics, groupId, decoder: textDecoder, group }
  if (kind === 'parallel') {
    const handler = async ({ value }: { value: string }, signal: AbortSignal) =>
      (await handle(value, signal)) ?? ok()
    return createParallelConsumer({ ...shared, concurrency: 8, handler, ...parallel })
  }
  const handler: BatchConsumerOptions<string>['handler'] = async ({ records }) => {
    const outcomes: Outcome[] = []
    for (const { value } of records) outcomes.push((await handle(value)) ?? ok())
    return outcomes
  }
  return createBatchConsumer({ ...shared, maxBatchRecords: 25, handler, ...batch })
}
