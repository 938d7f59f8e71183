import { randomBytes } from 'node:crypto'
import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import { createSealer, type Sealer } from '#runtime/sealing.ts'
import type { Service } from '#runtime/service.ts'
import type { DestinationKind } from '#schemas/destinations.ts'
import { selectableEvents, type RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics, type SchemaName, type TopicDefinition, type TopicValues } from '#schemas/topics.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { readLog } from '#tests/support/read-log.ts'
import { silentLog, startServiceFixture, type OwnParts } from '#tests/support/service-fixture.ts'
import { eventually } from '#tests/support/until.ts'
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

export interface DestinationGiven {
  projectId: string
  kind: DestinationKind
  settings?: object
  credentials?: object
  events?: readonly string[]
  includeText?: boolean
  maxPerMinute?: number
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
  pool: Pool
  prefix: string
  sealer: Sealer
  environment: Readonly<Record<string, string>>
  addProject(): Promise<string>
  /** Returns its id and its secret as shown. */
  addWebhook(given: WebhookGiven): Promise<{ id: string; secret: string }>
  /** Returns its id. */
  addDestination(given: DestinationGiven): Promise<string>
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

export async function createNotifierFixture(own?: OwnParts): Promise<NotifierFixture> {
  const fixture = await startServiceFixture('notifier', own)
  const { kafka, pool, prefix, codecOf, sendAs } = fixture
  const key = randomBytes(32)
  const sealer = createSealer([{ id: 'k1', key }])
  const delivery: NotifierFixture['delivery'] = (event, webhookId) =>
    readDelivery(pool, deliveryId(event, webhookId))
  return {
    kafka,
    pool,
    prefix,
    sealer,
    environment: {
      ...fixture.environment,
      BODY_ENCRYPTION_KEYS: `k1:${key.toString('base64')}`,
      WEBHOOK_ALLOW_INSECURE: '127.0.0.1',
    },
    addProject: () => addProject(pool),
    addWebhook: (given) => addWebhook(pool, sealer, given),
    addDestination: (given) => addDestination(pool, sealer, given),
    raise: (...events) => sendAs(topics.eventRaised, events, ({ project_id: id }) => id),
    send: (topic, recordKey, value) => sendAs(topic, [value], () => recordKey),
    async read(topic) {
      const records = await readLog(kafka, prefix + topic.name)
      return Promise.all(records.map(({ value }) => codecOf(topic).decode(value ?? Buffer.alloc(0))))
    },
    delivery,
    settled: (event, webhookId, status, timeoutMs = 180_000) =>
      settled(() => delivery(event, webhookId), status, timeoutMs),
    waiting: async () => (await pool.query('select from webhook_waiting')).rowCount ?? 0,
    close: fixture.close,
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

/** A notifier in this process. */
export async function startNotifier(
  fixture: NotifierFixture,
  changes: Readonly<Record<string, string>> = {},
): Promise<{ service: Service; metrics: Metrics }> {
  const parsed = parseConfig(notifierConfig, { ...fixture.environment, ...changes })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const metrics = createMetrics()
  const service = createNotifier(parsed.value, { log: silentLog, metrics, clock: systemClock })
  await service.start()
  return { service, metrics }
}

async function addProject(pool: Pool): Promise<string> {
  const id = newId('project')
  await pool.query('insert into projects (id, name, created_at) values ($1, $2, now())', [
    idToUuid(id),
    'a project',
  ])
  return id
}

async function addWebhook(pool: Pool, sealer: Sealer, given: WebhookGiven) {
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

async function addDestination(pool: Pool, sealer: Sealer, given: DestinationGiven): Promise<string> {
  const { projectId, kind, settings = {}, credentials = {} } = given
  const events = given.events ?? selectableEvents
  const { id } = await addWebhook(pool, sealer, { url: 'https://shown.example', projectId, events })
  const sealed = sealer.seal(
    Buffer.from(JSON.stringify(credentials)),
    sealedIdentity(projectId, id, 'destination_credentials'),
  )
  await pool.query(
    `update webhooks set kind = $2, settings = $3, credentials_codec = $4, credentials_key_id = $5,
       credentials_data = $6, include_text = $7, max_per_minute = $8 where id = $1`,
    [
      idToUuid(id),
      kind,
      settings,
      sealed.codec,
      sealed.key_id,
      sealed.data,
      given.includeText ?? true,
      given.maxPerMinute ?? null,
    ],
  )
  return id
}

async function readDelivery(pool: Pool, id: string): Promise<StoredDelivery | undefined> {
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
