import type { Pool } from 'pg'
import { TransientError } from '#runtime/errors.ts'
import { createParallelConsumer } from '#runtime/kafka/parallel-consumer.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import { createSealer, warnWithoutKeys } from '#runtime/sealing.ts'
import { createServiceContext } from '#runtime/service-context.ts'
import type { Service } from '#runtime/service.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { services } from '#schemas/services.ts'
import { avroSchemas, topics, type TopicDefinition, type TopicValues } from '#schemas/topics.ts'
import { createCallBudget } from './call-budget.ts'
import type { ScorerConfig } from './config.ts'
import { createScoreHandler, type ScoreHandlerDependencies } from './handler.ts'
import { createJobQueues, type QueueName } from './job-queues.ts'
import { createJobsUnderWay, type JobsUnderWay } from './jobs-under-way.ts'
import { announceJudge } from './judge/announce-judge.ts'
import { makeJudge, markKeyOf } from './judge/make-judge.ts'
import { createPermits } from './judge/permits.ts'
import { servePreviews } from './previews/serve-previews.ts'
import { createRounds } from './rounds.ts'
import { countWaiting, createScorerMetrics, type ScorerMetrics } from './scorer-metrics.ts'
import type { CustomScorer } from './scoring/custom/custom-scorer.ts'
import { createDetectCall } from './steps/detect-call.ts'
import { createCustomScorerStore, type CustomScorerStore } from './stores/custom-scorer-store.ts'
import { createIsErased } from './stores/erased-calls.ts'
import { noteJudge } from './stores/judge-status.ts'
import { createPreviewStore } from './stores/preview-store.ts'
import { createProjectScorerStore } from './stores/project-scorer-store.ts'
import { createProjectSettingsStore } from './stores/project-settings-store.ts'
import { readRubrics, readTiers } from './stores/read-evals.ts'
import { catalogueOf, writeCatalogue } from './stores/scorer-catalogue.ts'
import { createValueKeys } from './stores/value-keys.ts'
import { createDetectorThreads } from './threads/detector-threads.ts'

const { groups } = services.scorer.kafka

/**
 * Memory for calls being scored. A call of 10 MiB takes 20 MB, one with the maximum of parts 110; sized for a
 * pod of 1 GiB with one detector thread.
 */
const callBudgetBytes = 128 * 1024 * 1024
/** Smaller calls need no memory permit: SCORER_CONCURRENCY of them take at most half of the budget. */
const smallCallBytes = 4 * 1024 * 1024

/**
 * Live jobs queued for each one being scored, so that projects can take turns (judge/permits.ts). They wait
 * sealed, within the consumer's bytes.
 */
const lookAhead = 4
/** Bytes of queued live jobs, sealed. Large ones move to their own queue when their turn comes. */
const waitingBytes = 32 * 1024 * 1024
/** Large jobs queued; in effect unbounded, as 32 per partition and SCORER_LARGE_WAITING_BYTES bind first. */
const largeLookAhead = 1_000

/**
 * The scorer turns jobs into scores. In Postgres it reads projects' settings and keeps the judge's budget.
 */
export function createScorer(config: ScorerConfig, dependencies: ProcessDependencies): Service {
  const scorerMetrics = createScorerMetrics(dependencies.metrics)
  const context = createServiceContext<ScorerConfig, TopicValues>(config, dependencies, {
    name: 'sluice-scorer',
    avroSchemas,
    writes: services.scorer.kafka.writes,
  })
  const { log, clock, pool, producer, nameOf, codecOf } = context
  const custom = createCustomScorerStore({ file: config.CUSTOM_SCORERS_FILE, metrics: scorerMetrics, log })
  const jobs = createJobsUnderWay(scorerMetrics, clock)
  warnWithoutKeys(config.BODY_ENCRYPTION_KEYS, log)
  const stopping = new AbortController()
  const scoring = makeScoring({ config, dependencies, metrics: scorerMetrics, pool, custom, jobs })
  const handling: ScoreHandlerDependencies = {
    ...scoring.tools,
    stopping: stopping.signal,
    queues: createJobQueues({
      producer,
      encoder: codecOf(topics.scoreJobsLarge),
      topicPrefix: config.TOPIC_PREFIX,
    }),
    publish: async (scored, trace) => {
      const value = await codecOf(topics.scoreRecorded).encode(scored)
      await producer.send([{ topic: nameOf(topics.scoreRecorded), key: scored.request_id, value, trace }])
    },
  }
  const consume = (queue: QueueName, groupId: string, read: readonly TopicDefinition[]) =>
    createParallelConsumer<ScoreJob>({
      ...context,
      groupId,
      topics: read.map(nameOf),
      decoder: codecOf(topics.scoreJobs),
      handler: createScoreHandler(queue, handling),
      ...boundsOf(queue, config),
      omitDeadLetterValue: (topic) => topic.endsWith('.ephemeral'),
    })
  const consumers = [
    consume('live', `${config.TOPIC_PREFIX}scorer`, groups.scorer),
    consume('large', `${config.TOPIC_PREFIX}scorer-large`, groups['scorer-large']),
    consume('replay', `${config.TOPIC_PREFIX}scorer-replay`, groups['scorer-replay']),
  ]
  const announcing = announceJudge({ note: () => noteJudge(pool, scoring.tools.judge !== null), clock, log })
  // Stopped first: a job that waits for a permit while consumers drain would wait in vain.
  const permitsEnd = onStop(() => stopping.abort(new TransientError('SCORER_STOPPING', 'the scorer stops')))
  return runTogether(
    // Consumers stop together: with a judge that hangs, each drains for 20 s of the process's 25.
    [
      custom,
      jobs,
      ...context.connections,
      announcing,
      scoring.part,
      publishCatalogue(context, scoring.tools),
      servePreviews({ ...scoring.tools, store: createPreviewStore(pool) }),
      consumers,
      permitsEnd,
    ],
    log,
  )
}

/** Writes what this process runs, at the start and whenever the file has other scorers. */
function publishCatalogue(
  { pool, clock, log }: { pool: Pool } & Pick<ProcessDependencies, 'clock' | 'log'>,
  { custom, tiers, rubrics, judge }: Pick<ScoreHandlerDependencies, 'custom' | 'tiers' | 'rubrics' | 'judge'>,
): Part {
  let written: readonly CustomScorer[] | undefined
  return createRounds({
    everyMs: 2_000,
    clock,
    log,
    failure: 'catalogue of scorers not written',
    async work() {
      const current = custom.current()
      if (current === written) return false
      await writeCatalogue(pool, catalogueOf({ custom: current, tiers, rubrics, hasJudge: judge !== null }))
      written = current
      return false
    },
  })
}

/** Limits of the jobs that a consumer queues and runs. */
function boundsOf(
  queue: QueueName,
  config: ScorerConfig,
): { concurrency: number; maxInFlightBytes?: number } {
  const { SCORER_CONCURRENCY: concurrency, SCORER_LARGE_WAITING_BYTES: maxInFlightBytes } = config
  if (queue === 'large') return { concurrency: largeLookAhead, maxInFlightBytes }
  if (queue === 'replay') return { concurrency }
  return { concurrency: concurrency * lookAhead, maxInFlightBytes: waitingBytes }
}

interface Ingredients {
  config: ScorerConfig
  dependencies: ProcessDependencies
  metrics: ScorerMetrics
  pool: Pool
  custom: CustomScorerStore
  jobs: JobsUnderWay
}

/** Shared by all consumers: the judge, the detector threads and the permits. */
function makeScoring({ config, dependencies, metrics, pool, custom, jobs }: Ingredients): {
  tools: Omit<ScoreHandlerDependencies, 'publish' | 'queues' | 'stopping'>
  part: Part
} {
  const { clock, log } = dependencies
  const judge = makeJudge(config, dependencies, metrics, pool)
  const sealer = createSealer(config.BODY_ENCRYPTION_KEYS)
  const threads = createDetectorThreads({
    threads: config.DETECTOR_THREADS,
    timeoutMs: config.DETECTOR_TIMEOUT_MS,
    metrics,
    clock,
  })
  const jobPermits = createPermits(config.SCORER_CONCURRENCY, {
    mayReplay: () => !jobs.areLate(),
    hasOneMore: true,
    onWaiting: countWaiting(metrics, 'turn'),
  })
  const largeJobPermits = createPermits(config.SCORER_LARGE_CONCURRENCY, {
    hasOneMore: true,
    onWaiting: countWaiting(metrics, 'large_turn'),
  })
  jobs.onMeasured(() => jobPermits.wake())
  const memoryBudget = createCallBudget({
    maxBytes: callBudgetBytes,
    smallBytes: Math.min(smallCallBytes, callBudgetBytes / 2 / (config.SCORER_CONCURRENCY + 1)),
    onChange: (bytes) => metrics.largeCallBytes.set(bytes),
    onWaiting: countWaiting(metrics, 'room'),
  })
  return {
    tools: {
      judge,
      rubrics: readRubrics(config.RUBRICS_DIR),
      judgeTextLimit: config.JUDGE_TEXT_LIMIT,
      judgeGrouping: config.JUDGE_GROUPING,
      detect: createDetectCall({ threads, inlineMaxChars: config.DETECTOR_INLINE_MAX_CHARS, metrics, log }),
      metrics,
      sealer,
      tiers: readTiers(config.TIERS_FILE),
      custom,
      settings: createProjectSettingsStore(pool, clock, createProjectScorerStore(pool, log)),
      isErased: createIsErased(pool),
      valueKeys: createValueKeys({ pool, sealer, clock, log, metrics }),
      jobs,
      jobPermits,
      largeJobPermits,
      memoryBudget,
      inlineMaxChars: config.DETECTOR_INLINE_MAX_CHARS,
      retryAfterMs: config.DETECTOR_RETRY_AFTER_MS,
      markKey: markKeyOf(config),
      log,
      clock,
    },
    part: onStop(async () => {
      judge?.stop()
      await threads.stop()
    }),
  }
}

function onStop(stop: () => unknown): Part {
  return {
    start: () => Promise.resolve(),
    async stop() {
      await stop()
    },
  }
}
