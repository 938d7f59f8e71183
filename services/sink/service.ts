import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { messageOf } from '#runtime/errors.ts'
import { createBatchConsumer } from '#runtime/kafka/batch-consumer.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import type { Producer } from '#runtime/kafka/records.ts'
import { createRegistryCodec, type Codec } from '#runtime/kafka/registry-codec.ts'
import { createPool } from '#runtime/postgres.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { Service } from '#runtime/service.ts'
import {
  avroSchemas,
  deadLetterTopic,
  topics,
  type SchemaName,
  type TopicDefinition,
  type TopicValues,
} from '#schemas/topics.ts'
import type { SinkConfig } from './config.ts'
import { createCostAlerts } from './alert-costs.ts'
import { createErasing } from './erase-recorded.ts'
import { createRunCarrier } from './carry-out-runs.ts'
import { createRollupFolding } from './fold-rollups.ts'
import { createCallHandler } from './handle-calls.ts'
import { createScoreHandler } from './handle-scores.ts'
import { bytesDecoder, createDeadLetterIndex, leaveUnindexed } from './index-dead-letters.ts'
import { createClaimKeeping } from './keep-claims.ts'
import { createRetention } from './keep-retention.ts'
import { createMaintenance } from './maintain-tables.ts'
import { createPeriodicTask } from './periodic-task.ts'
import { createEventPublisher, createJobPublisher } from './publish-records.ts'
import { createHistoryReader } from './read-history.ts'
import { createEventRelay } from './relay-events.ts'
import { countBacklog } from './replay-backlog.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import { createSweep } from './sweep-unscored.ts'
import { createCallStore } from './stores/call-store.ts'
import { createDayPartitions, type DayPartitions } from './stores/day-partitions.ts'
import { createRollupStore, type RollupStore } from './stores/rollup-store.ts'
import { createScoreStore } from './stores/score-store.ts'

const mebibyte = 1024 * 1024

const scoreGroupOf = ({ TOPIC_PREFIX }: SinkConfig) => `${TOPIC_PREFIX}sink-scores`
const callGroupOf = ({ TOPIC_PREFIX }: SinkConfig) => `${TOPIC_PREFIX}sink-calls`

/** What every part of the sink stands on. */
interface Ground extends ProcessDependencies {
  config: SinkConfig
  kafka: Kafka
  pool: Pool
  rollups: RollupStore
  producer: Producer
  codecOf: <S extends SchemaName>(topic: TopicDefinition<S>) => Codec<TopicValues[S]>
  nameOf: (topic: TopicDefinition) => string
}

/** The sink: three consumers, the relay of the outbox and the upkeep of the tables, in one process. */
export function createSink(config: SinkConfig, dependencies: ProcessDependencies): Service {
  const ground = layGround(config, dependencies)
  const { log, clock, pool, producer } = ground
  const publishEvents = createEventPublisher({
    producer,
    topic: ground.nameOf(topics.eventRaised),
    encoder: ground.codecOf(topics.eventRaised),
  })
  const relay = createPeriodicTask({
    name: 'outbox_relay',
    intervalMs: config.OUTBOX_POLL_INTERVAL_MS,
    run: createEventRelay({ ...ground, publishEvents }),
    clock,
    log,
  })
  const partitions = createDayPartitions({ pool, clock, maxAgeDays: config.SINK_LATE_MAX_DAYS })
  const calls = createCallConsumer(ground, partitions, () => relay.wake())
  const scores = createScoreConsumer(ground, () => relay.wake())
  const connections: Part = { start: () => Promise.resolve(), stop: () => pool.end() }
  const deadLetters = createDeadLetterConsumer(ground)
  return runTogether(
    [
      connections,
      producer,
      relay,
      ...createUpkeep(ground, partitions, () => relay.wake()),
      deadLetters,
      scores,
      calls,
    ],
    log,
  )
}

/** What is done now and then: each round by one sink, elected by an advisory lock. */
function createUpkeep(ground: Ground, partitions: DayPartitions, onEvents: () => void): Part[] {
  const { config, producer } = ground
  const publishJobs = createJobPublisher({
    producer,
    topic: ground.nameOf(topics.scoreJobs),
    encoder: ground.codecOf(topics.scoreJobs),
  })
  const every = (name: string, intervalMs: number, run: () => Promise<boolean>) =>
    createPeriodicTask({ ...ground, name, intervalMs, run })
  return [
    every(
      'maintenance',
      config.SINK_MAINTENANCE_INTERVAL_MS,
      createMaintenance({ ...ground, partitions, daysAhead: config.SINK_PARTITION_DAYS_AHEAD }),
    ),
    every(
      'retention',
      config.RETENTION_INTERVAL_MS,
      createRetention({ ...ground, metadataDays: config.METADATA_RETENTION_DAYS }),
    ),
    every(
      'quota_claims',
      config.QUOTA_INTERVAL_MS,
      createClaimKeeping({
        ...ground,
        topic: ground.nameOf(topics.requestLogged),
        groupId: callGroupOf(config),
      }),
    ),
    every('cost_alerts', config.QUOTA_INTERVAL_MS, createCostAlerts({ ...ground, onEvents })),
    every('erasing', config.ERASURE_INTERVAL_MS, createErasing(ground)),
    every('rollup_folding', config.SINK_MAINTENANCE_INTERVAL_MS, createRollupFolding(ground)),
    every(
      'sweep',
      config.SWEEP_INTERVAL_MS,
      createSweep({ ...ground, ageMs: config.SWEEP_AGE_MS, publishJobs }),
    ),
    every('score_runs', config.SCORE_RUNS_INTERVAL_MS, createReplays(ground)),
  ]
}

/** Runs that score history again: fed from here, scored by the scorers' group of their own. */
function createReplays(ground: Ground): () => Promise<boolean> {
  const { config, kafka, producer, nameOf, codecOf } = ground
  const topic = nameOf(topics.scoreJobsReplay)
  return createRunCarrier({
    ...ground,
    publishJobs: createJobPublisher({ producer, topic, encoder: codecOf(topics.scoreJobsReplay) }),
    waitingJobs: () => countBacklog(kafka, topic, `${config.TOPIC_PREFIX}scorer-replay`),
    waitingScores: () => countBacklog(kafka, nameOf(topics.scoreRecorded), scoreGroupOf(config)),
    maxWaitingJobs: config.REPLAY_MAX_WAITING_JOBS,
    readHistory: createHistoryReader({
      ...ground,
      topic: nameOf(topics.requestLogged),
      codec: codecOf(topics.requestLogged),
      groupPrefix: `${config.TOPIC_PREFIX}sink-replay-`,
    }),
  })
}

function layGround(config: SinkConfig, dependencies: ProcessDependencies): Ground {
  const { log, metrics } = dependencies
  const kafka = createKafka(config, { clientId: 'sluice-sink', log })
  const registry = createRegistryCodec({ url: config.SCHEMA_REGISTRY_URL, log })
  const nameOf = (topic: TopicDefinition) => config.TOPIC_PREFIX + topic.name
  return {
    ...dependencies,
    config,
    kafka,
    pool: createPool(config, { log, metrics, applicationName: 'sluice-sink' }),
    rollups: createRollupStore(),
    // A batch of calls becomes as many bytes of jobs, of several partitions at once.
    producer: createProducer({ kafka, log, metrics, maxBufferedBytes: 256 * mebibyte }),
    codecOf: (topic) =>
      registry.codec({ subject: `${nameOf(topic)}-value`, schema: avroSchemas[topic.schema] }),
    nameOf,
  }
}

function createCallConsumer(
  ground: Ground,
  partitions: ReturnType<typeof createDayPartitions>,
  onEvents: () => void,
): Part {
  const { config, log, producer, nameOf, codecOf } = ground
  const ephemeralTopic = nameOf(topics.requestEphemeral)
  const jobCodec = codecOf(topics.scoreJobs)
  const ephemeralJobCodec = codecOf(topics.scoreJobsEphemeral)
  const publish = {
    kept: createJobPublisher({ producer, topic: nameOf(topics.scoreJobs), encoder: jobCodec }),
    ephemeral: createJobPublisher({
      producer,
      topic: nameOf(topics.scoreJobsEphemeral),
      encoder: ephemeralJobCodec,
    }),
  }
  const consumer = createBatchConsumer({
    ...ground,
    groupId: callGroupOf(config),
    topics: [nameOf(topics.requestLogged), ephemeralTopic],
    decoder: codecOf(topics.requestLogged),
    handler: createCallHandler({
      ...ground,
      kindOf: (topic) => (topic === ephemeralTopic ? 'ephemeral' : 'kept'),
      partitions,
      calls: createCallStore(ground.pool, ground.rollups),
      publishJobs: (jobs, kind) => publish[kind](jobs),
      onEvents,
    }),
    maxBatchRecords: config.SINK_BATCH_MAX_RECORDS,
    // While one partition's jobs are being acknowledged another's calls are stored.
    partitionsConcurrently: 2,
    omitDeadLetterValue: (topic) => topic === ephemeralTopic,
  })
  return {
    ...consumer,
    async start() {
      // Known ids let jobs be written through an outage of the registry; without them each batch asks for them again.
      await Promise.all([jobCodec.prepare(), ephemeralJobCodec.prepare()]).catch((error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'the schema registry did not answer; jobs wait for it')
      })
      await consumer.start()
    },
  }
}

function createScoreConsumer(ground: Ground, onEvents: () => void): Part {
  const { config, nameOf, codecOf } = ground
  // Lines about scores are the product's output, not its log: LOG_LEVEL does not silence them.
  const lines = ground.log.child({}, { level: 'info' })
  return createBatchConsumer({
    ...ground,
    groupId: scoreGroupOf(config),
    topics: [nameOf(topics.scoreRecorded)],
    decoder: codecOf(topics.scoreRecorded),
    handler: createScoreHandler({
      ...ground,
      scores: createScoreStore(ground.pool, ground.rollups),
      writeLine: (line) => lines.info(line),
      onEvents,
      dashboardUrl: config.DASHBOARD_URL,
    }),
    maxBatchRecords: config.SINK_BATCH_MAX_RECORDS,
  })
}

function createDeadLetterConsumer(ground: Ground): Part {
  const { config, log, metrics, nameOf, codecOf } = ground
  const sources = Object.values(topics).filter(({ deadLetters }) => deadLetters)
  const decoders = new Map(sources.map((source: TopicDefinition) => [source.name, codecOf(source)]))
  const byTopic = new Map(sources.map((source) => [deadLetterTopic(nameOf(source)), source.name]))
  return createBatchConsumer({
    ...ground,
    groupId: `${config.TOPIC_PREFIX}sink-dead-letters`,
    topics: [...byTopic.keys()],
    decoder: bytesDecoder,
    handler: createDeadLetterIndex({
      ...ground,
      sourceOf: (topic) => byTopic.get(topic) ?? topic,
      decoderOf: (source) => decoders.get(source),
    }),
    sendDeadLetters: leaveUnindexed(log, metrics),
  })
}
