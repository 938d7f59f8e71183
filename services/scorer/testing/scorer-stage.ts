import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Consumer, Kafka } from 'kafkajs'
import { createTopics, registerSchemas } from '#infra/create-topics.ts'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import type { Service } from '#runtime/service.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { avroSchemas, deadLetterTopic, topics, type TopicDefinition } from '#schemas/topics.ts'
import { deleteTopics, randomName, testInfrastructure } from '#tests/support/infrastructure.ts'
import { scorerConfig } from '../config.ts'
import { createScorer } from '../service.ts'

/** Topics of its own on the shared Kafka, and what tests do with them. */
export interface ScorerStage {
  /** What the scorer under test is configured with; a test may change the custom scorers. */
  environment: Readonly<Record<string, string>>
  customScorersFile: string
  send(jobs: readonly ScoreJob[], topic?: TopicDefinition<'SafetyScoreJob'>): Promise<void>
  sendRaw(key: string, value: Buffer): Promise<void>
  /** Everything on `safety.score.recorded`, as it comes. */
  recorded: readonly ScoredCall[]
  /** Headers and value of what was dead-lettered from the two topics of jobs. */
  deadLetters: readonly { headers: Record<string, string>; hasValue: boolean }[]
  close(): Promise<void>
}

const quiet = createLog('stage', 'silent')

export async function setScorerStage(): Promise<ScorerStage> {
  const { brokers, registryUrl } = testInfrastructure()
  const prefix = `${randomName('scorer')}.`
  const directory = await mkdtemp(path.join(tmpdir(), 'scorer-'))
  const customScorersFile = path.join(directory, 'scorers.yaml')
  await copyFile('evals/scorers.yaml', customScorersFile)
  const kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'scorer-test', log: quiet })
  await createTopics({ kafka, prefix, replicationFactor: 1, log: quiet })
  await registerSchemas({ registryUrl, prefix, log: quiet })
  const producer = createProducer({ kafka, log: quiet, metrics: createMetrics() })
  await producer.start()
  const registry = createRegistryCodec({ url: registryUrl, log: quiet })
  const codecOf = <T>({ name, schema }: TopicDefinition) =>
    registry.codec<T>({ subject: `${prefix}${name}-value`, schema: avroSchemas[schema] })
  const scores = codecOf<ScoredCall>(topics.scoreRecorded)
  const recorded: ScoredCall[] = []
  const deadLetters: { headers: Record<string, string>; hasValue: boolean }[] = []
  const taps = [
    await tap(kafka, [prefix + topics.scoreRecorded.name], async (value) => {
      if (value !== null) recorded.push(await scores.decode(value))
    }),
    await tap(
      kafka,
      [topics.scoreJobs, topics.scoreJobsEphemeral].map(({ name }) => prefix + deadLetterTopic(name)),
      (value, headers) => Promise.resolve(void deadLetters.push({ headers, hasValue: value !== null })),
    ),
  ]
  return {
    environment: {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      TOPIC_PREFIX: prefix,
      CUSTOM_SCORERS_FILE: customScorersFile,
      LOG_LEVEL: 'silent',
    },
    customScorersFile,
    recorded,
    deadLetters,
    async send(jobs, topic = topics.scoreJobs) {
      const codec = codecOf<ScoreJob>(topic)
      const values = await Promise.all(jobs.map((job) => codec.encode(job)))
      await producer.send(
        jobs.map((job, index) => ({
          topic: prefix + topic.name,
          key: job.request_id,
          value: values[index] ?? null,
        })),
      )
    },
    sendRaw: (key, value) => producer.send([{ topic: prefix + topics.scoreJobs.name, key, value }]),
    async close() {
      await Promise.all(taps.map((consumer) => consumer.disconnect()))
      await producer.stop()
      await deleteTopics(prefix)
      await rm(directory, { recursive: true })
    },
  }
}

async function tap(
  kafka: Kafka,
  names: readonly string[],
  take: (value: Buffer | null, headers: Record<string, string>) => Promise<void>,
): Promise<Consumer> {
  const consumer = kafka.consumer({ groupId: `${names[0] ?? ''}.tap`, retry: { retries: 5 } })
  await consumer.connect()
  await consumer.subscribe({ topics: [...names], fromBeginning: true })
  await consumer.run({
    eachMessage: ({ message }) => {
      const headers = Object.entries(message.headers ?? {}).map(
        ([name, value]) => [name, String(value)] as const,
      )
      return take(message.value, Object.fromEntries(headers))
    },
  })
  return consumer
}

export interface RunningScorer {
  service: Service
  metrics: Metrics
}

/** The real scorer in this process. */
export async function startScorer(
  stage: ScorerStage,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningScorer> {
  const parsed = parseConfig(scorerConfig, { ...stage.environment, ...environment })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const metrics = createMetrics()
  const service = createScorer(parsed.value, { log: quiet, metrics, clock: systemClock })
  await service.start()
  return { service, metrics }
}
