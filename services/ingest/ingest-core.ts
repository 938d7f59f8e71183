import { join, resolve } from 'node:path'
import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { databaseRoles } from '#runtime/database-roles.ts'
import { TransientError } from '#runtime/errors.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import type { Producer } from '#runtime/kafka/records.ts'
import { createRegistryCodec, type Codec, type RegistryCodec } from '#runtime/kafka/registry-codec.ts'
import type { Log } from '#runtime/log.ts'
import { createPool } from '#runtime/postgres.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createSealer, warnWithoutKeys, type Sealer } from '#runtime/sealing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { avroSchemas, topics, type TopicDefinition } from '#schemas/topics.ts'
import { createAccessChanges } from '#http/access/access-changes.ts'
import { createAuthenticate } from '#http/access/authenticate.ts'
import { createKeyDirectory, type KeyDirectory } from '#http/access/key-directory.ts'
import { maxCallBytes, type IngestFields } from './config.ts'
import { createAnswerBudget } from '#http/answer-budget.ts'
import { createBodyBudget } from '#http/body-budget.ts'
import type { HttpCore } from '#http/http-service.ts'
import type { Route } from '#http/route.ts'
import { createLogCalls } from './log-calls.ts'
import { ingestRoutes } from './routes.ts'
import { createAdmit } from './steps/admit-together.ts'
import { createPublishCall } from './steps/publish-call.ts'
import { createKeyStore } from '#http/access/key-store.ts'
import { createKeyUses } from '#http/access/key-uses.ts'
import { createPriceStore } from './stores/price-store.ts'
import { createQuotaStore } from './stores/quota-store.ts'

const repository = join(import.meta.dirname, '..', '..')
/** How long a client waits for Kafka before it gets 503. */
const sendTimeoutMs = 10_000

/** The parts of ingest. The API, which serves ingest's routes too, uses the same ones. */
export interface IngestCore extends HttpCore {
  routes: readonly Route[]
  keys: KeyDirectory
  /** Sees a project's rows inside `inProjectTransaction`, and none outside. */
  pool: Pool
  kafka: Kafka
  producer: Producer
  registry: RegistryCodec
  sealer: Sealer
}

interface IngestDependencies extends ProcessDependencies {
  name: string
  /** Of Postgres. Default: the pool's. */
  statementTimeoutMs?: number
}

export function createIngestCore(config: IngestFields, dependencies: IngestDependencies): IngestCore {
  const { log, clock } = dependencies
  const parts = createParts(config, dependencies)
  const { prices, pool, producer, registry, sealer } = parts
  const changes = createAccessChanges({
    pool,
    log,
    clock,
    onChange: (projectId) => keys.forgetProject(projectId),
  })
  const uses = createKeyUses({ pool, clock, log })
  const keys = createKeyDirectory({ store: createKeyStore(pool), clock, hearsChanges: changes.isListening })
  const logged = callTopic(registry, config.TOPIC_PREFIX, topics.requestLogged)
  const ephemeral = callTopic(registry, config.TOPIC_PREFIX, topics.requestEphemeral)
  const logCalls = createLogCalls({
    ...dependencies,
    keys,
    admit: createAdmit(createQuotaStore(pool), clock),
    publish: createPublishCall({ producer, sealer, logged, ephemeral }),
    prices,
    maxRecordBytes: maxCallBytes(config),
  })

  return {
    ...parts,
    routes: ingestRoutes({ logCalls, maxRecordBytes: maxCallBytes(config) }),
    authenticate: createAuthenticate({
      keys,
      operatorSecret: config.INTERNAL_API_SECRET,
      clock,
      onUse: (keyId) => uses.note(keyId),
    }),
    keys,
    async start() {
      changes.start()
      prices.start()
      uses.start()
      await producer.start()
      await prepareTopics([logged, ephemeral], log)
    },
    async stop() {
      prices.stop()
      await uses.stop()
      await changes.stop()
      await producer.stop()
      await pool.end()
    },
    problems: (): Record<string, string> => {
      const ofPrices = prices.problem()
      return {
        ...(changes.isListening()
          ? {}
          : { postgres: 'not hearing of revoked keys: every key is checked at every use' }),
        ...(ofPrices === undefined ? {} : { prices: ofPrices }),
        ...producer.health().problems,
      }
    },
  }
}

function createParts(
  config: IngestFields,
  { log, metrics, clock, name, statementTimeoutMs }: IngestDependencies,
) {
  warnWithoutKeys(config.BODY_ENCRYPTION_KEYS, log)
  const kafka = createKafka(config, { clientId: name, log })
  return {
    prices: createPriceStore({
      listFile: join(repository, 'infra', 'prices.json'),
      ownFile: config.PRICES_FILE === undefined ? undefined : resolve(config.PRICES_FILE),
      log,
      metrics,
    }),
    pool: createPool(config, {
      log,
      metrics,
      applicationName: name,
      role: databaseRoles(config.DATABASE_ROLE_PREFIX).api,
      answersAtOnce: true,
      ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
    }),
    kafka,
    producer: createProducer({
      kafka,
      log,
      metrics,
      clock,
      sendTimeoutMs,
      maxRecordBytes: config.KAFKA_MAX_RECORD_BYTES,
    }),
    registry: createRegistryCodec({ url: config.SCHEMA_REGISTRY_URL, log }),
    sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
    bodyBudget: createBodyBudget(config.BODIES_MAX_BYTES, metrics),
    answerBudget: createAnswerBudget(config.BODIES_MAX_BYTES, metrics),
  }
}

/**
 * Fetches the schemas' ids, so that only sends need the registry later. If it is away now, only sends fail.
 */
async function prepareTopics(prepared: readonly { encoder: Codec<LoggedCall> }[], log: Log): Promise<void> {
  try {
    await Promise.all(prepared.map(({ encoder }) => encoder.prepare()))
  } catch (error) {
    if (!(error instanceof TransientError)) throw error
    log.warn({ err: error }, 'calls cannot be taken until their schemas can be read')
  }
}

function callTopic(
  registry: RegistryCodec,
  prefix: string,
  { name, schema }: TopicDefinition<'LlmRequestLogged'>,
): { name: string; encoder: Codec<LoggedCall> } {
  const topic = prefix + name
  return {
    name: topic,
    encoder: registry.codec<LoggedCall>({ subject: `${topic}-value`, schema: avroSchemas[schema] }),
  }
}
