import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { groupSettingsOf, type GroupSettings } from '#runtime/kafka/assignment.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import type { Producer } from '#runtime/kafka/records.ts'
import { createRegistryCodec, type Codec } from '#runtime/kafka/registry-codec.ts'
import { createPool } from '#runtime/postgres.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import {
  avroSchemas,
  topics,
  type SchemaName,
  type TopicDefinition,
  type TopicValues,
} from '#schemas/topics.ts'
import type { SinkConfig } from './config.ts'
import type { Queue } from './upkeep/follow-queues.ts'
import { createRollupStore, type RollupStore } from './stores/rollup-store.ts'

const mebibyte = 1024 * 1024

/** The groups that store calls and scores. */
export const scoreGroupOf = ({ TOPIC_PREFIX }: Pick<SinkConfig, 'TOPIC_PREFIX'>) =>
  `${TOPIC_PREFIX}sink-scores`
export const callGroupOf = ({ TOPIC_PREFIX }: SinkConfig) => `${TOPIC_PREFIX}sink-calls`

/** What a stored call goes through until its live scores are stored. */
export function scoringQueuesOf(config: Pick<SinkConfig, 'TOPIC_PREFIX'>): Queue[] {
  const prefix = config.TOPIC_PREFIX
  return [
    { topic: prefix + topics.scoreJobs.name, groupId: `${prefix}scorer` },
    { topic: prefix + topics.scoreJobsEphemeral.name, groupId: `${prefix}scorer` },
    { topic: prefix + topics.scoreJobsLarge.name, groupId: `${prefix}scorer-large` },
    { topic: prefix + topics.scoreJobsLargeEphemeral.name, groupId: `${prefix}scorer-large` },
    { topic: prefix + topics.scoreRecorded.name, groupId: scoreGroupOf(config) },
  ]
}

/** What a job of a replay goes through until its scores are stored. */
export function replayQueuesOf(config: Pick<SinkConfig, 'TOPIC_PREFIX'>): [jobs: Queue, scores: Queue] {
  const prefix = config.TOPIC_PREFIX
  return [
    { topic: prefix + topics.scoreJobsReplay.name, groupId: `${prefix}scorer-replay` },
    { topic: prefix + topics.scoreRecorded.name, groupId: scoreGroupOf(config) },
  ]
}

/** What every part of the sink stands on. */
export interface ServiceContext extends ProcessDependencies {
  config: SinkConfig
  kafka: Kafka
  /** Of its consumer groups. */
  group: Partial<GroupSettings>
  pool: Pool
  rollups: RollupStore
  producer: Producer
  codecOf: <S extends SchemaName>(topic: TopicDefinition<S>) => Codec<TopicValues[S]>
  nameOf: (topic: TopicDefinition) => string
}

/** Connects nothing yet. */
export function createServiceContext(config: SinkConfig, dependencies: ProcessDependencies): ServiceContext {
  const { log, metrics } = dependencies
  const kafka = createKafka(config, { clientId: 'sluice-sink', log })
  const registry = createRegistryCodec({ url: config.SCHEMA_REGISTRY_URL, log })
  const nameOf = (topic: TopicDefinition) => config.TOPIC_PREFIX + topic.name
  return {
    ...dependencies,
    config,
    kafka,
    group: groupSettingsOf(config),
    pool: createPool(config, { log, metrics, applicationName: 'sluice-sink' }),
    rollups: createRollupStore(),
    // A batch of calls becomes as many bytes of jobs, of several partitions at once.
    producer: createProducer({
      kafka,
      log,
      metrics,
      maxBufferedBytes: 256 * mebibyte,
      maxRecordBytes: config.KAFKA_MAX_RECORD_BYTES,
    }),
    codecOf: (topic) =>
      registry.codec({ subject: `${nameOf(topic)}-value`, schema: avroSchemas[topic.schema] }),
    nameOf,
  }
}
