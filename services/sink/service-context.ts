import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createServiceContext, type ServiceContext as RuntimeContext } from '#runtime/service-context.ts'
import { services } from '#schemas/services.ts'
import { avroSchemas, topics, type TopicValues } from '#schemas/topics.ts'
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
  return [...queuesOf(config, 'scorer'), ...queuesOf(config, 'scorer-large'), scoreQueueOf(config)]
}

/** What a job of a replay goes through until its scores are stored. */
export function replayQueuesOf(config: Pick<SinkConfig, 'TOPIC_PREFIX'>): [jobs: Queue, scores: Queue] {
  const [jobs] = queuesOf(config, 'scorer-replay')
  return [jobs as Queue, scoreQueueOf(config)]
}

function queuesOf(
  { TOPIC_PREFIX: prefix }: Pick<SinkConfig, 'TOPIC_PREFIX'>,
  group: keyof typeof services.scorer.kafka.groups,
): Queue[] {
  return services.scorer.kafka.groups[group].map(({ name }) => ({
    topic: prefix + name,
    groupId: prefix + group,
  }))
}

function scoreQueueOf(config: Pick<SinkConfig, 'TOPIC_PREFIX'>): Queue {
  return { topic: config.TOPIC_PREFIX + topics.scoreRecorded.name, groupId: scoreGroupOf(config) }
}

/** What every part of the sink is given. */
export interface ServiceContext extends RuntimeContext<SinkConfig, TopicValues> {
  rollups: RollupStore
}

/** Connects nothing yet. */
export function createSinkContext(config: SinkConfig, dependencies: ProcessDependencies): ServiceContext {
  const context = createServiceContext<SinkConfig, TopicValues>(config, dependencies, {
    name: 'sluice-sink',
    avroSchemas,
    writes: services.sink.kafka.writes,
    // A batch of calls becomes as many bytes of jobs, of several partitions at once.
    producer: { maxBufferedBytes: 256 * mebibyte },
  })
  return { ...context, rollups: createRollupStore() }
}
