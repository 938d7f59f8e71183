import { createBatchConsumer } from '#runtime/kafka/batch-consumer.ts'
import { deadLetterTopic, topics, type TopicDefinition } from '#schemas/topics.ts'
import { createCallAwaiting } from './steps/await-calls.ts'
import { createCallHandler } from './handle-calls.ts'
import { createScoreHandler } from './handle-scores.ts'
import { bytesDecoder, createDeadLetterIndex, leaveUnindexed } from './index-dead-letters.ts'
import { createJobPublisher } from './publish-records.ts'
import type { Part } from '#runtime/run-together.ts'
import { createCallStore } from './stores/call-store.ts'
import type { createDayPartitions } from './stores/day-partitions.ts'
import { createScoreStore } from './stores/score-store.ts'
import { createFindingStore } from './stores/finding-store.ts'
import { createSuppressionStore } from './stores/suppression-store.ts'
import { callGroupOf, scoreGroupOf, type ServiceContext } from './service-context.ts'

/** They share transactions (stores/call-store.ts, stores/score-store.ts) and commits of offsets. */
const partitionsConcurrently = 6

/** Stores calls and queues them for scoring. */
export function createCallConsumer(
  context: ServiceContext,
  partitions: ReturnType<typeof createDayPartitions>,
  onEvents: () => void,
): Part {
  const { config, producer, nameOf, codecOf } = context
  const ephemeralTopic = nameOf(topics.requestEphemeral)
  const publisherOf = (topic: TopicDefinition<'SafetyScoreJob'>) =>
    createJobPublisher({ producer, topic: nameOf(topic), encoder: codecOf(topic) })
  const publish = { kept: publisherOf(topics.scoreJobs), ephemeral: publisherOf(topics.scoreJobsEphemeral) }
  return createBatchConsumer({
    ...context,
    groupId: callGroupOf(config),
    topics: [nameOf(topics.requestLogged), ephemeralTopic],
    decoder: codecOf(topics.requestLogged),
    handler: createCallHandler({
      ...context,
      kindOf: (topic) => (topic === ephemeralTopic ? 'ephemeral' : 'kept'),
      partitions,
      calls: createCallStore(context.pool, context.rollups),
      publishJobs: (jobs, kind, traces) => publish[kind](jobs, traces),
      onEvents,
    }),
    maxBatchRecords: config.SINK_BATCH_MAX_RECORDS,
    partitionsConcurrently,
    omitDeadLetterValue: (topic) => topic === ephemeralTopic,
  })
}

/** Stores scores. */
export function createScoreConsumer(context: ServiceContext, onEvents: () => void): Part {
  const { config, nameOf, codecOf } = context
  // Lines about scores are the product's output, not its log: LOG_LEVEL does not silence them.
  const lines = context.log.child({}, { level: 'info' })
  const now = () => context.clock.now()
  const suppressions = createSuppressionStore(now)
  const findings = createFindingStore({ now, dashboardUrl: config.DASHBOARD_URL })
  return createBatchConsumer({
    ...context,
    groupId: scoreGroupOf(config),
    topics: [nameOf(topics.scoreRecorded)],
    decoder: codecOf(topics.scoreRecorded),
    handler: createScoreHandler({
      ...context,
      scores: createScoreStore(context.pool, context.rollups, suppressions, findings),
      writeLine: (line) => lines.info(line),
      onEvents,
      awaitCalls: createCallAwaiting({
        ...context,
        topic: nameOf(topics.requestLogged),
        groupId: callGroupOf(config),
      }),
      dashboardUrl: config.DASHBOARD_URL,
    }),
    maxBatchRecords: config.SINK_BATCH_MAX_RECORDS,
    partitionsConcurrently,
  })
}

/** Writes down where dead letters stand. */
export function createDeadLetterConsumer(context: ServiceContext): Part {
  const { config, log, metrics, nameOf, codecOf } = context
  const sources = Object.values(topics).filter(({ deadLetters }) => deadLetters)
  const decoders = new Map(sources.map((source: TopicDefinition) => [source.name, codecOf(source)]))
  const byTopic = new Map(sources.map((source) => [deadLetterTopic(nameOf(source)), source.name]))
  return createBatchConsumer({
    ...context,
    groupId: `${config.TOPIC_PREFIX}sink-dead-letters`,
    topics: [...byTopic.keys()],
    decoder: bytesDecoder,
    handler: createDeadLetterIndex({
      ...context,
      sourceOf: (topic) => byTopic.get(topic) ?? topic,
      decoderOf: (source) => decoders.get(source),
    }),
    sendDeadLetters: leaveUnindexed(log, metrics),
  })
}
