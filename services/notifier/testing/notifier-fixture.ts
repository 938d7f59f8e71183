import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import pg from 'pg'
import { createTopics, registerSchemas } from '#infra/create-topics.ts'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { createRegistryCodec, type Codec } from '#runtime/kafka/registry-codec.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import { createSealer, type Sealer } from '#runtime/sealing.ts'
import type { Service } from '#runtime/service.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import {
  avroSchemas,
  topics,
  type SchemaName,
  type TopicDefinition,
  type TopicValues,
} from '#schemas/topics.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import {
  createTestDatabase,
  deleteTopics,
  randomName,
  testInfrastructure,
} from '#tests/support/infrastructure.ts'
import { readLog } from '#tests/support/read-log.ts'
import { notifierConfig } from '../config.ts'
import { createNotifier } from '../service.ts'

export interface WebhookGiven {
  url: string
  projectId: string
  events?: readonly string[]
  filters?: object
  filterExpression?: string
  enabled?: boolean
}

export interface StoredDelivery {
  status: string
  attempt_count: number
  delivered_at: Date | null
  attempts: {
    number: number
    status_code: number | null
    error: string | null
    response_excerpt: Buffer | null
    finished_at: Date | null
  }[]
}

/**
 * Topics, schemas and a database of their own on the shared Kafka, registry and Postgres, and what tests do
 * with them.
 */
export interface NotifierFixture {
  kafka: Kafka
  pool: pg.Pool
  prefix: string
  sealer: Sealer
  environment: Readonly<Record<string, string>>
  addProject(): Promise<string>
  /** Returns its id and its secret as shown. */
  addWebhook(given: WebhookGiven): Promise<{ id: string; secret: string }>
  raise(...events: readonly RaisedEvent[]): Promise<void>
  /** Values put on a topic as they are. */
  send<S extends SchemaName>(topic: TopicDefinition<S>, key: string, value: TopicValues[S]): Promise<void>
  /** Everything that stands on a topic now. */
  read<S extends SchemaName>(topic: TopicDefinition<S>): Promise<TopicValues[S][]>
  delivery(event: RaisedEvent, webhookId: string): Promise<StoredDelivery | undefined>
  /** Resolves with the delivery once it has that status. */
  settled(event: RaisedEvent, webhookId: string, status: string, timeoutMs?: number): Promise<StoredDelivery>
  /** How many attempts wait in the database. */
  waiting(): Promise<number>
  close(): Promise<void>
}

const quiet = createLog('stage', 'silent')

/** What a test may do away with; absent: the shared ones. The database has to be migrated. */
export interface OwnParts {
  brokers: readonly string[]
  databaseUrl: string
}

export async function createNotifierFixture(own?: OwnParts): Promise<NotifierFixture> {
  const { registryUrl, ...shared } = testInfrastructure()
  const brokers = [...(own?.brokers ?? shared.brokers)]
  const prefix = `${randomName('notifier')}.`
  const database = own === undefined ? await createTestDatabase() : { url: own.databaseUrl, drop: nothing }
  const kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'notifier-test', log: quiet })
  await createTopics({ kafka, prefix, replicationFactor: 1, log: quiet })
  await registerSchemas({ registryUrl, prefix, log: quiet })
  const pool = openPool(database.url)
  const producer = createProducer({ kafka, log: quiet, metrics: createMetrics() })
  await producer.start()
  const key = randomBytes(32)
  const sealer = createSealer([{ id: 'k1', key }])
  const codecOf = createCodecs(registryUrl, prefix)
  const recordOf = async <S extends SchemaName>(
    topic: TopicDefinition<S>,
    recordKey: string,
    value: TopicValues[S],
  ) => ({ topic: prefix + topic.name, key: recordKey, value: await codecOf(topic).encode(value) })
  const send: NotifierFixture['send'] = async (topic, recordKey, value) => {
    await producer.send([await recordOf(topic, recordKey, value)])
  }
  const delivery: NotifierFixture['delivery'] = (event, webhookId) =>
    readDelivery(pool, deliveryId(event, webhookId))
  return {
    kafka,
    pool,
    prefix,
    sealer,
    environment: {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DATABASE_URL: database.url,
      TOPIC_PREFIX: prefix,
      BODY_ENCRYPTION_KEYS: `k1:${key.toString('base64')}`,
      WEBHOOK_ALLOW_INSECURE: '127.0.0.1',
    },
    addProject: () => addProject(pool),
    addWebhook: (given) => addWebhook(pool, sealer, given),
    raise: async (...events) => {
      const records = events.map((event) => recordOf(topics.eventRaised, event.project_id, event))
      await producer.send(await Promise.all(records))
    },
    send,
    async read(topic) {
      const records = await readLog(kafka, prefix + topic.name)
      return Promise.all(records.map(({ value }) => codecOf(topic).decode(value ?? Buffer.alloc(0))))
    },
    delivery,
    settled: (event, webhookId, status, timeoutMs = 180_000) =>
      settled(() => delivery(event, webhookId), status, timeoutMs),
    waiting: async () => (await pool.query('select from webhook_waiting')).rowCount ?? 0,
    async close() {
      await producer.stop()
      await pool.end()
      await database.drop()
      if (own === undefined) await deleteTopics(prefix)
    },
  }
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 4 })
  // A Postgres that is killed takes idle connections with it; whoever asks next gets another or the error.
  pool.on('error', () => undefined)
  return pool
}

async function nothing(): Promise<void> {
  // Its owner ends it.
}

function createCodecs(registryUrl: string, prefix: string) {
  const registry = createRegistryCodec({ url: registryUrl, log: quiet })
  const codecs = new Map<string, Codec<never>>()
  return <S extends SchemaName>(topic: TopicDefinition<S>): Codec<TopicValues[S]> => {
    const subject = `${prefix}${topic.name}-value`
    const codec = codecs.get(subject) ?? registry.codec({ subject, schema: avroSchemas[topic.schema] })
    codecs.set(subject, codec)
    return codec
  }
}

async function settled(
  read: () => Promise<StoredDelivery | undefined>,
  status: string,
  timeoutMs: number,
): Promise<StoredDelivery> {
  const stored = await eventually(read, (delivery) => delivery?.status === status, timeoutMs)
  return stored as StoredDelivery
}

/** Reads until the value is as it should be. Rejects with what it was after `timeoutMs`. */
export async function eventually<T>(
  read: () => Promise<T>,
  isWanted: (value: T) => boolean,
  timeoutMs = 180_000,
): Promise<T> {
  for (const deadlineMs = Date.now() + timeoutMs; ;) {
    const value = await read()
    if (isWanted(value)) return value
    if (Date.now() > deadlineMs) throw new Error(`still ${JSON.stringify(value)}`)
    await sleep(50)
  }
}

/** A notifier in this process. */
export async function startNotifier(
  fixture: NotifierFixture,
  changes: Readonly<Record<string, string>> = {},
): Promise<{ service: Service; metrics: Metrics }> {
  const parsed = parseConfig(notifierConfig, { ...fixture.environment, ...changes })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const metrics = createMetrics()
  const service = createNotifier(parsed.value, { log: quiet, metrics, clock: systemClock })
  await service.start()
  return { service, metrics }
}

async function addProject(pool: pg.Pool): Promise<string> {
  const id = newId('project')
  await pool.query('insert into projects (id, name, created_at) values ($1, $2, now())', [
    idToUuid(id),
    'a project',
  ])
  return id
}

async function addWebhook(pool: pg.Pool, sealer: Sealer, given: WebhookGiven) {
  const id = newId('webhook')
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const sealed = sealer.seal(Buffer.from(secret), sealedIdentity(given.projectId, id, 'webhook_secret'))
  await pool.query(
    `insert into webhooks (id, project_id, url, events, filters, filter_expression, enabled, secret_codec,
       secret_key_id, secret_data, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now(), now())`,
    [
      idToUuid(id),
      idToUuid(given.projectId),
      given.url,
      given.events ?? ['threat_detected', 'usage_alert', 'redteam_complete'],
      given.filters ?? {},
      given.filterExpression ?? null,
      given.enabled ?? true,
      sealed.codec,
      sealed.key_id,
      sealed.data,
    ],
  )
  return { id, secret }
}

async function readDelivery(pool: pg.Pool, id: string): Promise<StoredDelivery | undefined> {
  const { rows } = await pool.query<Omit<StoredDelivery, 'attempts'>>(
    'select status, attempt_count, delivered_at from webhook_deliveries where id = $1',
    [idToUuid(id)],
  )
  const attempts = await pool.query<StoredDelivery['attempts'][number]>(
    `select number, status_code, error, response_excerpt, finished_at from webhook_attempts where delivery_id = $1
     order by number`,
    [idToUuid(id)],
  )
  return rows.map((row) => ({ ...row, attempts: attempts.rows }))[0]
}
