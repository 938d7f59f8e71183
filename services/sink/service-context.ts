import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createServiceContext, type ServiceContext as RuntimeContext } from '#runtime/service-context.ts'
import { services } from '#schemas/services.ts'
import { avroSchemas, topics, type TopicValues } from '#schemas/topics.ts'
import type { SinkConfig } from './config.ts'
import { createEventTraces, type EventTraces } from './event-traces.ts'
import type { Queue } from './upkeep/follow-queues.ts'
import { createRollupStore, type RollupStore } from './stores/rollup-store.ts'

const mebibyte = 1024 * 1024

/** The groups that store calls and scores. */
export const scoreGroupOf = ({ TOPIC_PREFIX }: Pick<SinkConfig, 'TOPIC_PREFIX'>) =>
  `${TOPIC_PREFIX}sink-scores`
export const callGroupOf = ({ TOPIC_PREFIX }: SinkConfig) => `${TOPIC_PREFIX}sink-calls`

/** The queues between a stored call and its stored live scores. */
export function scoringQueuesOf(config: Pick<SinkConfig, 'TOPIC_PREFIX'>): Queue[] {
  return [...queuesOf(config, 'scorer'), ...queuesOf(config, 'scorer-large'), scoreQueueOf(config)]
}

/** The queues between a published call and its row. */
export function storingQueuesOf(config: SinkConfig): Queue[] {
  return [topics.requestLogged, topics.requestEphemeral].map(({ name }) => ({
    topic: config.TOPIC_PREFIX + name,
    groupId: callGroupOf(config),
  }))
}

/** The queues between a replay's job and its stored scores. */
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

/** Shared dependencies of the sink's parts. */
export interface ServiceContext extends RuntimeContext<SinkConfig, TopicValues> {
  rollups: RollupStore
  /** Undefined where traces are off. */
  eventTraces: EventTraces | undefined
}

/** Does not connect yet. */
export function createSinkContext(config: SinkConfig, dependencies: ProcessDependencies): ServiceContext {
  const context = createServiceContext<SinkConfig, TopicValues>(config, dependencies, {
    name: 'sluice-sink',
    avroSchemas,
    writes: services.sink.kafka.writes,
    // A batch of calls becomes about as many bytes of jobs, for several partitions at once.
    producer: { maxBufferedBytes: 256 * mebibyte },
  })
  const eventTraces = dependencies.tracing && createEventTraces()
  return { ...context, rollups: createRollupStore(), eventTraces }
}
