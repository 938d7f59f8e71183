import { messageOf } from '#runtime/errors.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createParallelConsumer } from '#runtime/kafka/parallel-consumer.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import { createSealer } from '#runtime/sealing.ts'
import type { Service } from '#runtime/service.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { avroSchemas, topics, type TopicDefinition } from '#schemas/topics.ts'
import type { ScorerConfig } from './config.ts'
import { createScoreHandler } from './handler.ts'
import { createJobsUnderWay } from './jobs-under-way.ts'
import { createOpenAiModel } from './judge/ask-openai.ts'
import { createJudge, type Judge } from './judge/judge.ts'
import { createScorerMetrics, type ScorerMetrics } from './scorer-metrics.ts'
import { createCustomScorerStore } from './stores/custom-scorer-store.ts'
import { readRubrics, readTiers } from './stores/read-evals.ts'

/** The scorer: jobs in, scores out. Reads nothing but Kafka and its own files; writes nothing but Kafka. */
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
  const custom = createCustomScorerStore({ file: config.CUSTOM_SCORERS_FILE, metrics: scorerMetrics, log })
  const jobs = createJobsUnderWay(scorerMetrics.oldestJobAgeSeconds, clock)
  const judge = makeJudge(config, dependencies, scorerMetrics)
  const ephemeralTopic = nameOf(topics.scoreJobsEphemeral)
  const consumer = createParallelConsumer<ScoreJob>({
    kafka,
    log,
    metrics,
    clock,
    producer,
    groupId: `${config.TOPIC_PREFIX}scorer`,
    topics: [nameOf(topics.scoreJobs), ephemeralTopic],
    decoder: codecOf<ScoreJob>(topics.scoreJobs),
    handler: createScoreHandler({
      judge,
      rubrics: readRubrics(config.RUBRICS_DIR),
      judgeTextLimit: config.JUDGE_TEXT_LIMIT,
      metrics: scorerMetrics,
      sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
      tiers: readTiers(config.TIERS_FILE),
      custom,
      jobs,
      markKey: markKeyOf(config),
      clock,
      publish: async (scored) => {
        const value = await scores.encode(scored)
        await producer.send([{ topic: nameOf(topics.scoreRecorded), key: scored.request_id, value }])
      },
    }),
    concurrency: config.SCORER_CONCURRENCY,
    omitDeadLetterValue: (topic) => topic === ephemeralTopic,
  })
  const preparing: Part = {
    start: () =>
      // A known id lets scores be written through an outage of the registry.
      scores.prepare().catch((error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'the schema registry did not answer; scores wait for it')
      }),
    stop: () => Promise.resolve(judge?.stop()),
  }
  return runTogether([custom, jobs, producer, preparing, consumer], log)
}

function makeJudge(
  config: ScorerConfig,
  { log, clock }: ProcessDependencies,
  metrics: ScorerMetrics,
): Judge | null {
  if (config.OPENAI_API_KEY === undefined && config.OPENAI_BASE_URL === undefined) {
    log.warn('no judge is configured (OPENAI_API_KEY, OPENAI_BASE_URL): what needs one stays unscored')
    return null
  }
  const ask = createOpenAiModel({
    // Servers of one's own often want none, and the client insists on something.
    apiKey: config.OPENAI_API_KEY ?? 'none',
    baseUrl: config.OPENAI_BASE_URL,
    model: config.SCORER_MODEL,
    timeoutMs: config.JUDGE_TIMEOUT_MS,
    markKey: markKeyOf(config),
  })
  const { SCORER_MODEL: model, JUDGE_CONCURRENCY: concurrency } = config
  return createJudge({ ask, model, concurrency, metrics, log, clock })
}

/** Null: no secret to make marks with, so none is made and none is believed. */
function markKeyOf({ JUDGE_MARK_SECRET, OPENAI_API_KEY }: ScorerConfig): string | null {
  return JUDGE_MARK_SECRET ?? OPENAI_API_KEY ?? null
}
