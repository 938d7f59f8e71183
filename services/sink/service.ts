import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { Service } from '#runtime/service.ts'
import { topics, topicsToCreate } from '#schemas/topics.ts'
import type { SinkConfig } from './config.ts'
import { createCostAlerts } from './upkeep/alert-costs.ts'
import { createErasing } from './upkeep/erase-recorded.ts'
import { createRunAdvance } from './runs/advance-runs.ts'
import { createScoredUntil } from './upkeep/find-scored-until.ts'
import { createRollupFolding } from './upkeep/fold-rollups.ts'
import { createClusterWatch } from './upkeep/watch-cluster.ts'
import { createClaimReturn } from './upkeep/return-claims.ts'
import { createRetention } from './upkeep/apply-retention.ts'
import { createMaintenance } from './upkeep/maintain-tables.ts'
import { createPeriodicTask, type RoundEnd } from './upkeep/periodic-task.ts'
import { createEventPublisher, createJobPublisher } from './publish-records.ts'
import { createHistoryReader } from './runs/read-history.ts'
import { createEventRelay } from './upkeep/relay-events.ts'
import { countBacklog } from './runs/replay-backlog.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import { shareRounds } from './upkeep/share-rounds.ts'
import { createSweep } from './upkeep/sweep-unscored.ts'
import { createOutbox } from './stores/outbox-store.ts'
import { createRoundStore } from './stores/round-store.ts'
import { createDayPartitions, type DayPartitions } from './stores/day-partitions.ts'
import { createCallConsumer, createDeadLetterConsumer, createScoreConsumer } from './create-consumers.ts'
import {
  callGroupOf,
  createServiceContext,
  replayQueuesOf,
  scoringQueuesOf,
  type ServiceContext,
} from './service-context.ts'
import { passQueues } from './upkeep/follow-queues.ts'

/** Twice between two scrapes would show nothing more. */
const clusterWatchIntervalMs = 30_000

/** The sink: three consumers, the relay of the outbox and the upkeep of the tables, in one process. */
export function createSink(config: SinkConfig, dependencies: ProcessDependencies): Service {
  const context = createServiceContext(config, dependencies)
  const { log, clock, pool, producer } = context
  const publishEvents = createEventPublisher({
    producer,
    topic: context.nameOf(topics.eventRaised),
    encoder: context.codecOf(topics.eventRaised),
  })
  const relay = createPeriodicTask({
    name: 'outbox_relay',
    intervalMs: config.OUTBOX_POLL_INTERVAL_MS,
    run: createEventRelay({ ...context, outbox: createOutbox(pool), publishEvents }),
    clock,
    log,
    metrics: context.metrics,
  })
  const partitions = createDayPartitions({ pool, clock, maxAgeDays: config.SINK_LATE_MAX_DAYS })
  const calls = createCallConsumer(context, partitions, () => relay.wake())
  const scores = createScoreConsumer(context, () => relay.wake())
  const connections: Part = { start: () => Promise.resolve(), stop: () => pool.end() }
  const deadLetters = createDeadLetterConsumer(context)
  return runTogether(
    [
      connections,
      producer,
      relay,
      ...createUpkeep(context, partitions, () => relay.wake()),
      deadLetters,
      scores,
      calls,
    ],
    log,
  )
}

type Run = (signal: AbortSignal, number: number) => Promise<RoundEnd>

function createTasks(context: ServiceContext) {
  const every = (name: string, intervalMs: number, run: (signal: AbortSignal) => Promise<RoundEnd>) =>
    createPeriodicTask({ ...context, name, intervalMs, run })
  const shared = (name: string, intervalMs: number, run: Run) =>
    every(name, intervalMs, shareRounds(createRoundStore(context.pool, name, intervalMs), run))
  return { every, shared }
}

/**
 * What is done now and then: each step by one sink at a time, elected by an advisory lock. What looks through tables is a round for all sinks; each
 * does what it has to know or to show itself, and erasures in small steps, which several share.
 */
function createUpkeep(context: ServiceContext, partitions: DayPartitions, onEvents: () => void): Part[] {
  const { config, producer } = context
  const publishJobs = createJobPublisher({
    producer,
    topic: context.nameOf(topics.scoreJobs),
    encoder: context.codecOf(topics.scoreJobs),
  })
  const { every, shared } = createTasks(context)
  return [
    every(
      'maintenance',
      config.SINK_MAINTENANCE_INTERVAL_MS,
      createMaintenance({ ...context, partitions, daysAhead: config.SINK_PARTITION_DAYS_AHEAD }),
    ),
    shared(
      'retention',
      config.RETENTION_INTERVAL_MS,
      createRetention({ ...context, metadataDays: config.METADATA_RETENTION_DAYS }),
    ),
    shared(
      'quota_claims',
      config.QUOTA_INTERVAL_MS,
      createClaimReturn({
        ...context,
        topic: context.nameOf(topics.requestLogged),
        groupId: callGroupOf(config),
      }),
    ),
    shared('cost_alerts', config.QUOTA_INTERVAL_MS, createCostAlerts({ ...context, onEvents })),
    every('erasing', config.ERASURE_INTERVAL_MS, createErasing(context)),
    shared('rollup_folding', config.SINK_MAINTENANCE_INTERVAL_MS, createRollupFolding(context)),
    shared(
      'sweep',
      config.SWEEP_INTERVAL_MS,
      createSweep({
        ...context,
        ageMs: config.SWEEP_AGE_MS,
        scoredUntil: createScoredUntil({
          ...context,
          queues: scoringQueuesOf(config),
          ageMs: config.SWEEP_AGE_MS,
        }),
        publishJobs,
      }),
    ),
    every(
      'cluster_watch',
      clusterWatchIntervalMs,
      createClusterWatch({
        ...context,
        registryUrl: config.SCHEMA_REGISTRY_URL,
        topicNames: topicsToCreate(config.TOPIC_PREFIX).map(({ name }) => name),
      }),
    ),
    every('score_runs', config.SCORE_RUNS_INTERVAL_MS, createReplays(context)),
  ]
}

/** Runs that score history again: fed from here, scored by the scorers' group of their own. */
function createReplays(context: ServiceContext): () => Promise<boolean> {
  const { config, kafka, producer, nameOf, codecOf } = context
  const queues = replayQueuesOf(config)
  const [{ topic, groupId }] = queues
  return createRunAdvance({
    ...context,
    publishJobs: createJobPublisher({ producer, topic, encoder: codecOf(topics.scoreJobsReplay) }),
    waitingJobs: () => countBacklog(kafka, topic, groupId),
    findAwaited: (awaited) => passQueues(kafka, queues, awaited),
    maxWaitingJobs: config.REPLAY_MAX_WAITING_JOBS,
    readHistory: createHistoryReader({
      ...context,
      topic: nameOf(topics.requestLogged),
      codec: codecOf(topics.requestLogged),
      groupPrefix: `${config.TOPIC_PREFIX}sink-replay-`,
    }),
  })
}
