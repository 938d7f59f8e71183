import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import type { Kafka } from 'kafkajs'
import pg from 'pg'
import { readersLevel } from '#infra/ask-registry.ts'
import { awaitTopics } from '#infra/create-topics.ts'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { registryAddress } from '#runtime/kafka/registry-address.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import {
  avroSchemas,
  topics,
  type SchemaName,
  type TopicDefinition,
  type TopicValues,
} from '#schemas/topics.ts'
import { apiConfigSchema } from '#services/api/config.ts'
import { createApi } from '#services/api/service.ts'
import { createTestDatabase, deleteTopics, randomName, testInfrastructure } from './infrastructure.ts'
import { readLog } from './read-log.ts'
import { startWithUndo, type Undo } from './undo.ts'

export const operatorSecret = 'an-operator-secret-for-tests'

export interface Answer {
  status: number
  headers: Headers
  /** The parsed body; undefined if there is none. */
  json: Record<string, unknown>
  text: string
}

export interface CallOptions {
  key?: string
  operator?: boolean
  headers?: Record<string, string>
  /** Sent as JSON, or unchanged if text or bytes. */
  body?: unknown
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>

export interface RunningApi {
  baseUrl: string
  call: Call
  /** Direct access to the API's database. */
  pool: pg.Pool
  metrics: Metrics
  topicPrefix: string
  /** A new project with a key of scope `all`. */
  createProject(
    settings?: Record<string, unknown>,
  ): Promise<{ projectId: string; key: string; keyId: string }>
  /** All records of a topic so far, decoded. */
  readTopic<S extends SchemaName>(topic: TopicDefinition<S>): Promise<TopicValues[S][]>
  stop(): Promise<void>
}

/** Variables for the API; or a function of its database's URL that returns them. */
type Environment =
  Record<string, string> | ((databaseUrl: string) => Record<string, string> | Promise<Record<string, string>>)

/** The real API in this process, with its own database and topics. */
export function startApi(environment: Environment = {}): Promise<RunningApi> {
  return startWithUndo((undo) => startWith(environment, undo))
}

async function startWith(environment: Environment, undo: Undo): Promise<Omit<RunningApi, 'stop'>> {
  const { brokers, registryUrl } = testInfrastructure()
  const topicPrefix = `${randomName('api')}.`
  const database = await createTestDatabase()
  undo.push(() => database.drop())
  const log = createLog('api-test', 'silent')
  const kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'api-test', log })
  undo.push(() => deleteTopics(topicPrefix))
  await createWrittenTopics(kafka, topicPrefix)
  await registerWritten(registryUrl, topicPrefix)
  const parsed = parseConfig(apiConfigSchema, {
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DATABASE_URL: database.url,
    TOPIC_PREFIX: topicPrefix,
    INTERNAL_API_SECRET: operatorSecret,
    API_HOST: '127.0.0.1',
    API_PORT: '0',
    DRAIN_LEAD_MS: '0',
    ...(typeof environment === 'function' ? await environment(database.url) : environment),
  })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  undo.push(() => pool.end())
  const metrics = createMetrics()
  const api = createApi(parsed.value, { log, metrics, clock: systemClock })
  undo.push(() => api.stop())
  await api.start()
  const baseUrl = `http://127.0.0.1:${api.port()}`
  const call = callTo(baseUrl)
  return {
    baseUrl,
    call,
    pool,
    metrics,
    topicPrefix,
    createProject: (settings) => createProject(call, settings),
    readTopic: (topic) => readTopic(kafka, registryUrl, topicPrefix, topic),
  }
}

/**
 * The API's topics. Only these are created and registered: all of them would take several times as long per
 * test file.
 */
const written = [topics.requestLogged, topics.requestEphemeral, topics.deliveryDue]

async function registerWritten(registryUrl: string, prefix: string): Promise<void> {
  const registry = new SchemaRegistry(registryAddress(registryUrl))
  for (const { name, schema } of written)
    await registry.register(avroSchemas[schema] as never, {
      subject: `${prefix}${name}-value`,
      compatibility: readersLevel,
    })
}

async function createWrittenTopics(kafka: Kafka, prefix: string): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({
    waitForLeaders: false,
    topics: written.map(({ name, partitions, maxMessageBytes }) => ({
      topic: prefix + name,
      numPartitions: partitions,
      replicationFactor: 1,
      configEntries: [{ name: 'max.message.bytes', value: String(maxMessageBytes) }],
    })),
  })
  await awaitTopics(
    admin,
    written.map(({ name, partitions }) => ({ name: prefix + name, partitions })),
  )
  await admin.disconnect()
}

function callTo(baseUrl: string): Call {
  return async (method, path, { key, operator = false, headers = {}, body } = {}) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { 'x-service-key': key }),
        ...(operator ? { authorization: `Bearer ${operatorSecret}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: bodyOf(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const json = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>
    return { status: response.status, headers: response.headers, json, text }
  }
}

function bodyOf(body: unknown): string | Buffer<ArrayBuffer> {
  return typeof body === 'string' || Buffer.isBuffer(body) ? (body as string) : JSON.stringify(body)
}

async function createProject(
  call: Call,
  settings: Record<string, unknown> = {},
): Promise<{ projectId: string; key: string; keyId: string }> {
  const project = await call('POST', '/api/projects', { operator: true, body: { name: 'test', ...settings } })
  if (project.status !== 201) throw new Error(`no project: ${project.text}`)
  const projectId = String(project.json['id'])
  const made = await call('POST', `/api/projects/${projectId}/keys`, {
    operator: true,
    body: { name: 'test' },
  })
  return { projectId, key: String(made.json['key']), keyId: String(made.json['id']) }
}

async function readTopic<S extends SchemaName>(
  kafka: Kafka,
  registryUrl: string,
  prefix: string,
  definition: TopicDefinition<S>,
): Promise<TopicValues[S][]> {
  const topic = prefix + definition.name
  const log = createLog('api-test', 'silent')
  const codec = createRegistryCodec({ url: registryUrl, log }).codec<TopicValues[S]>({
    subject: `${topic}-value`,
    schema: avroSchemas[definition.schema],
  })
  const records = await readLog(kafka, topic)
  return Promise.all(records.map(({ value }) => codec.decode(value ?? Buffer.alloc(0))))
}
