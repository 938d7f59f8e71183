import type { Pool } from 'pg'
import { messageOf, TransientError } from '#runtime/errors.ts'
import { groupSettingsOf } from '#runtime/kafka/assignment.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createParallelConsumer } from '#runtime/kafka/parallel-consumer.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import { createPool } from '#runtime/postgres.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import { createSealer, warnWithoutKeys } from '#runtime/sealing.ts'
import type { Service } from '#runtime/service.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { avroSchemas, topics, type TopicDefinition } from '#schemas/topics.ts'
import { createCallRoom } from './call-room.ts'
import type { ScorerConfig } from './config.ts'
import { createScoreHandler, type ScoreHandlerDependencies } from './handler.ts'
import { createJobsUnderWay, type JobsUnderWay } from './jobs-under-way.ts'
import { makeJudge, markKeyOf } from './judge/make-judge.ts'
import { createPermits } from './judge/permits.ts'
import type { Lane } from './judge/waiting-lines.ts'
import { countWaiting, createScorerMetrics, type ScorerMetrics } from './scorer-metrics.ts'
import { createDetectCall } from './steps/detect-call.ts'
import { createCustomScorerStore, type CustomScorerStore } from './stores/custom-scorer-store.ts'
import { createIsErased } from './stores/erased-calls.ts'
import { createProjectSettingsStore } from './stores/project-settings-store.ts'
import { readRubrics, readTiers } from './stores/read-evals.ts'
import { createDetectorThreads } from './threads/detector-threads.ts'

/** A call of 10 MiB takes 20 MB, one of as many parts as may be 110: in a pod of 1 GiB with a thread that reads one more. */
const callRoomBytes = 128 * 1024 * 1024
/** What waits for no room: as many as jobs are scored at once are half as much at most. */
const smallCallBytes = 4 * 1024 * 1024

/** Live jobs looked at for each that is scored: whose they are decides who is next (judge/permits.ts). They wait sealed, in the bytes that a consumer may hold. */
const lookAhead = 4

/** The scorer: jobs in, scores out. Of Postgres it reads how projects want to be scored, and keeps there what the judge may cost. */
export function createScorer(config: ScorerConfig, dependencies: ProcessDependencies): Service {
  const { log, metrics, clock } = dependencies
  const scorerMetrics = createScorerMetrics(metrics)
  const kafka = createKafka(config, { clientId: 'sluice-scorer', log })
  const registry = createRegistryCodec({ url: config.SCHEMA_REGISTRY_URL, log })
  const nameOf = (topic: TopicDefinition) => config.TOPIC_PREFIX + topic.name
  const codecOf = <T>(topic: TopicDefinition) =>
    registry.codec<T>({ subject: `${nameOf(topic)}-value`, schema: avroSchemas[topic.schema] })
  const scores = codecOf<ScoredCall>(topics.scoreRecorded)
  const producer = createProducer({ kafka, log, metrics, clock })
  const pool = createPool(config, { log, metrics, applicationName: 'sluice-scorer' })
  const custom = createCustomScorerStore({ file: config.CUSTOM_SCORERS_FILE, metrics: scorerMetrics, log })
  const jobs = createJobsUnderWay(scorerMetrics, clock)
  const stopping = new AbortController()
  const scoring = makeScoring({ config, dependencies, metrics: scorerMetrics, pool, custom, jobs })
  const handling: ScoreHandlerDependencies = {
    ...scoring.tools,
    stopping: stopping.signal,
    publish: async (scored) => {
      const value = await scores.encode(scored)
      await producer.send([{ topic: nameOf(topics.scoreRecorded), key: scored.request_id, value }])
    },
  }
  const ephemeralTopic = nameOf(topics.scoreJobsEphemeral)
  const consume = (lane: Lane, groupName: string, ...read: TopicDefinition[]) =>
    createParallelConsumer<ScoreJob>({
      kafka,
      log,
      metrics,
      clock,
      producer,
      group: groupSettingsOf(config),
      groupId: config.TOPIC_PREFIX + groupName,
      topics: read.map(nameOf),
      decoder: codecOf<ScoreJob>(topics.scoreJobs),
      handler: createScoreHandler(lane, handling),
      concurrency: lane === 'live' ? config.SCORER_CONCURRENCY * lookAhead : config.SCORER_CONCURRENCY,
      omitDeadLetterValue: (topic) => topic === ephemeralTopic,
    })
  const preparing: Part = {
    start: () => {
      warnWithoutKeys(config.BODY_ENCRYPTION_KEYS, log)
      // A known id lets scores be written through an outage of the registry.
      return scores.prepare().catch((error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'the schema registry did not answer; scores wait for it')
      })
    },
    stop: () => Promise.resolve(),
  }
  const consumers = [
    consume('live', 'scorer', topics.scoreJobs, topics.scoreJobsEphemeral),
    consume('replay', 'scorer-replay', topics.scoreJobsReplay),
  ]
  // Stopped first: who waits for a turn while consumers drain would wait for nothing.
  const turnsEnd = onStop(() => stopping.abort(new TransientError('SCORER_STOPPING', 'the scorer stops')))
  const connections = onStop(() => pool.end())
  return runTogether(
    // The consumers at once: with a judge that hangs each drains for 20 s of the 25 that the process has.
    [connections, custom, jobs, producer, scoring.part, preparing, consumers, turnsEnd],
    log,
  )
}

interface Ingredients {
  config: ScorerConfig
  dependencies: ProcessDependencies
  metrics: ScorerMetrics
  pool: Pool
  custom: CustomScorerStore
  jobs: JobsUnderWay
}

/** What both consumers score with: one judge, one pool of threads and one row of turns for both. */
function makeScoring({ config, dependencies, metrics, pool, custom, jobs }: Ingredients): {
  tools: Omit<ScoreHandlerDependencies, 'publish' | 'stopping'>
  part: Part
} {
  const { clock, log } = dependencies
  const judge = makeJudge(config, dependencies, metrics, pool)
  const threads = createDetectorThreads({
    threads: config.DETECTOR_THREADS,
    timeoutMs: config.DETECTOR_TIMEOUT_MS,
    metrics,
  })
  const turns = createPermits(config.SCORER_CONCURRENCY, {
    mayReplay: () => !jobs.areLate(),
    hasOneMore: true,
    onWaiting: countWaiting(metrics, 'turn'),
  })
  jobs.onMeasured(() => turns.wake())
  const room = createCallRoom({
    mostBytes: callRoomBytes,
    smallBytes: Math.min(smallCallBytes, callRoomBytes / 2 / (config.SCORER_CONCURRENCY + 1)),
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
      sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
      tiers: readTiers(config.TIERS_FILE),
      custom,
      settings: createProjectSettingsStore(pool, clock),
      isErased: createIsErased(pool),
      jobs,
      turns,
      room,
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
