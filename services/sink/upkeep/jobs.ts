import { topics, topicsToCreate } from '#schemas/topics.ts'
import { createEventPublisher, createJobPublisher } from '../publish-records.ts'
import { createRunAdvance } from '../runs/advance-runs.ts'
import { createHistoryReader } from '../runs/read-history.ts'
import { callGroupOf, replayQueuesOf, scoringQueuesOf, storingQueuesOf } from '../service-context.ts'
import { createOutbox } from '../stores/outbox-store.ts'
import { readTimeAgo } from '../stores/claim-store.ts'
import { createCostAlerts } from './alert-costs.ts'
import { createAlertEvaluation } from './alert-rules/evaluate-alerts.ts'
import { createHandledUntil } from './alert-rules/handled-until.ts'
import { createRetention } from './apply-retention.ts'
import { upkeepLocks } from './election.ts'
import { createVerdictDerivation } from './derive-verdicts.ts'
import { createErasing } from './erase-recorded.ts'
import { countBacklog, createScoredUntil, passQueues } from './follow-queues.ts'
import { createRollupFolding } from './fold-rollups.ts'
import { createMaintenance } from './maintain-tables.ts'
import { createEventRelay } from './relay-events.ts'
import { createClaimReturn } from './return-claims.ts'
import { createSweep } from './sweep-unscored.ts'
import type { JobContext, UpkeepJob } from './upkeep-job.ts'
import { createClusterWatch } from './watch-cluster.ts'

/** More often than Prometheus scrapes would show nothing more. */
const clusterWatchIntervalMs = 30_000

/** Rules are due each minute; how far the queues are is looked at more often, so that the answer is fresh. */
const alertRulesIntervalMs = 10_000

/** The job that other parts wake when they have written events. */
export const relayJob = 'outbox_relay'

/** Everything that the sinks repeat, in the order of starting. Jobs that search whole tables are shared. */
export const upkeepJobs: readonly UpkeepJob[] = [
  {
    name: relayJob,
    intervalMs: (config) => config.OUTBOX_POLL_INTERVAL_MS,
    create: (context) =>
      createEventRelay({
        ...context,
        outbox: createOutbox(context.pool),
        publishEvents: createEventPublisher({
          producer: context.producer,
          topic: context.nameOf(topics.eventRaised),
          encoder: context.codecOf(topics.eventRaised),
          traceOf: (id) => context.eventTraces?.of(id),
        }),
      }),
  },
  {
    name: 'maintenance',
    intervalMs: (config) => config.SINK_MAINTENANCE_INTERVAL_MS,
    lock: upkeepLocks.maintenance,
    create: (context) =>
      createMaintenance({ ...context, daysAhead: context.config.SINK_PARTITION_DAYS_AHEAD }),
  },
  {
    name: 'retention',
    intervalMs: (config) => config.RETENTION_INTERVAL_MS,
    shared: true,
    lock: upkeepLocks.retention,
    create: (context) =>
      createRetention({ ...context, metadataDays: context.config.METADATA_RETENTION_DAYS }),
  },
  {
    name: 'quota_claims',
    intervalMs: (config) => config.QUOTA_INTERVAL_MS,
    shared: true,
    lock: upkeepLocks.quotaClaims,
    create: (context) =>
      createClaimReturn({
        ...context,
        topic: context.nameOf(topics.requestLogged),
        groupId: callGroupOf(context.config),
      }),
  },
  {
    name: 'cost_alerts',
    intervalMs: (config) => config.QUOTA_INTERVAL_MS,
    shared: true,
    create: createCostAlerts,
  },
  {
    name: 'alert_rules',
    intervalMs: () => alertRulesIntervalMs,
    shared: true,
    lock: upkeepLocks.alertRules,
    create: alertRulesOf,
  },
  {
    name: 'erasing',
    intervalMs: (config) => config.ERASURE_INTERVAL_MS,
    lock: upkeepLocks.erasing,
    create: createErasing,
  },
  {
    name: 'rollup_folding',
    intervalMs: (config) => config.SINK_MAINTENANCE_INTERVAL_MS,
    shared: true,
    lock: upkeepLocks.rollupFolding,
    create: createRollupFolding,
  },
  {
    name: 'verdicts',
    intervalMs: (config) => config.SINK_MAINTENANCE_INTERVAL_MS,
    shared: true,
    lock: upkeepLocks.verdicts,
    create: createVerdictDerivation,
  },
  {
    name: 'sweep',
    intervalMs: (config) => config.SWEEP_INTERVAL_MS,
    shared: true,
    lock: upkeepLocks.sweep,
    create: sweepOf,
  },
  {
    name: 'cluster_watch',
    intervalMs: () => clusterWatchIntervalMs,
    create: (context) =>
      createClusterWatch({
        ...context,
        registryUrl: context.config.SCHEMA_REGISTRY_URL,
        topicNames: topicsToCreate(context.config.TOPIC_PREFIX).map(({ name }) => name),
      }),
  },
  { name: 'score_runs', intervalMs: (config) => config.SCORE_RUNS_INTERVAL_MS, create: scoreRunsOf },
]

function sweepOf(context: JobContext) {
  const ageMs = context.config.SWEEP_AGE_MS
  return createSweep({
    ...context,
    ageMs,
    scoredUntil: createScoredUntil({ ...context, queues: scoringQueuesOf(context.config), ageMs }),
    publishJobs: createJobPublisher({
      producer: context.producer,
      topic: context.nameOf(topics.scoreJobs),
      encoder: context.codecOf(topics.scoreJobs),
    }),
  })
}

function alertRulesOf(context: JobContext) {
  const { config, kafka, pool } = context
  const now = () => readTimeAgo(pool, 0)
  const storing = storingQueuesOf(config)
  return createAlertEvaluation({
    ...context,
    now,
    dashboardUrl: config.DASHBOARD_URL,
    storedUntil: createHandledUntil(kafka, storing, now),
    scoredUntil: createHandledUntil(kafka, [...storing, ...scoringQueuesOf(config)], now),
  })
}

/** Runs that score history again. The scorers handle their jobs in a group of its own. */
function scoreRunsOf(context: JobContext) {
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
