import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Consumer, Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import type { Service } from '#runtime/service.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { ProjectScorerDefinition } from '#schemas/project-scorer.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { deadLetterTopic, topics, type TopicDefinition } from '#schemas/topics.ts'
import { silentLog, startServiceFixture } from '#tests/support/service-fixture.ts'
import { scorerConfig } from '../config.ts'
import type { JudgeMode } from '../scoring/judge-modes.ts'
import { createScorer } from '../service.ts'
import { shippedScorers } from './shipped-scorers.ts'

interface DeadLetter {
  headers: Record<string, string>
  hasValue: boolean
}

/** A project's scoring settings; absent: defaults. */
export interface ProjectSettings {
  judge_mode?: JudgeMode
  judge_usd_per_period?: number
  sampling?: Record<string, number>
}

/** Own topics on the shared Kafka, with helpers. */
export interface ScorerFixture {
  /** The environment of the scorer under test; tests may change the custom scorers. */
  environment: Readonly<Record<string, string>>
  customScorersFile: string
  send(jobs: readonly ScoreJob[], topic?: TopicDefinition<'SafetyScoreJob'>): Promise<void>
  addProject(settings: ProjectSettings): Promise<string>
  /** A scorer that the project switched on. Returns its id. */
  addScorer(projectId: string, name: string, definition: ProjectScorerDefinition): Promise<string>
  pool: Pool
  /** Requests erasure of a user's past calls. */
  eraseUser(projectId: string, userId: string): Promise<void>
  sendRaw(key: string, value: Buffer): Promise<void>
  /** All records of `safety.score.recorded`, as they arrive. */
  recorded: readonly ScoredCall[]
  /** Dead letters of the job topics. */
  deadLetters: readonly DeadLetter[]
  close(): Promise<void>
}

export async function setScorerFixture(): Promise<ScorerFixture> {
  const directory = await mkdtemp(path.join(tmpdir(), 'scorer-'))
  const customScorersFile = path.join(directory, 'scorers.yaml')
  await writeFile(customScorersFile, shippedScorers())
  const { kafka, pool, prefix, codecOf, ...fixture } = await startServiceFixture('scorer')
  const scores = codecOf(topics.scoreRecorded)
  const recorded: ScoredCall[] = []
  const deadLetters: DeadLetter[] = []
  const taps = [
    await tap(kafka, [prefix + topics.scoreRecorded.name], async (value) => {
      if (value !== null) recorded.push(await scores.decode(value))
    }),
    await tapDeadLetters(kafka, prefix, deadLetters),
  ]
  return {
    environment: {
      ...fixture.environment,
      CUSTOM_SCORERS_FILE: customScorersFile,
      LOG_LEVEL: 'silent',
    },
    customScorersFile,
    recorded,
    deadLetters,
    send: (jobs, topic = topics.scoreJobs) => fixture.sendAs(topic, jobs, ({ request_id: id }) => id),
    pool,
    addProject: (settings) => addProject(pool, settings),
    addScorer: (projectId, name, definition) => addScorer(pool, projectId, name, definition),
    eraseUser: (projectId, userId) => eraseUser(pool, projectId, userId),
    sendRaw: (key, value) => fixture.send([{ topic: prefix + topics.scoreJobs.name, key, value }]),
    async close() {
      await Promise.all(taps.map((consumer) => consumer.disconnect()))
      await fixture.close()
      await rm(directory, { recursive: true })
    },
  }
}

async function addProject(pool: Pool, settings: ProjectSettings): Promise<string> {
  const { judge_mode = 'always', judge_usd_per_period = null, sampling = {} } = settings
  const id = newId('project')
  await pool.query(
    `insert into projects (id, name, judge_mode, judge_usd_per_period, sampling, created_at) values ($1, 'test', $2, $3, $4, now())`,
    [idToUuid(id), judge_mode, judge_usd_per_period, sampling],
  )
  return id
}

async function addScorer(
  pool: Pool,
  projectId: string,
  name: string,
  definition: ProjectScorerDefinition,
): Promise<string> {
  const id = newId('projectScorer')
  await pool.query(
    `insert into project_scorers (id, project_id, name, kind, definition, description, severity, enabled, version, created_by, updated_by,
       created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'Why it is there.', 'medium', true, 1, 'test', 'test', now(), now())`,
    [idToUuid(id), idToUuid(projectId), name, definition.kind, JSON.stringify(definition)],
  )
  return id
}

async function eraseUser(pool: Pool, projectId: string, userId: string): Promise<void> {
  await pool.query(
    `insert into erasures (id, project_id, scope, subject, requested_at, requested_by, kept_in_kafka_until)
     values ($1, $2, 'user', $3, now(), 'operator', now())`,
    [idToUuid(newId('erasure')), idToUuid(projectId), userId],
  )
}

function tapDeadLetters(kafka: Kafka, prefix: string, into: DeadLetter[]): Promise<Consumer> {
  const sources: TopicDefinition[] = Object.values(topics)
  const jobs = sources.filter(({ schema }) => schema === 'SafetyScoreJob')
  const names = jobs.map(({ name }) => prefix + deadLetterTopic(name))
  return tap(kafka, names, (value, headers) => {
    into.push({ headers, hasValue: value !== null })
    return Promise.resolve()
  })
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

/** The real scorer, in this process. */
export async function startScorer(
  fixture: ScorerFixture,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningScorer> {
  const parsed = parseConfig(scorerConfig, { ...fixture.environment, ...environment })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const metrics = createMetrics()
  const service = createScorer(parsed.value, { log: silentLog, metrics, clock: systemClock })
  await service.start()
  return { service, metrics }
}
