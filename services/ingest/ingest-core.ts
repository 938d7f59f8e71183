import { join, resolve } from 'node:path'
import type { Pool } from 'pg'
import { createSignCall } from '#capture/search/search-signature.ts'
import { databaseRoles } from '#runtime/database-roles.ts'
import { createPool } from '#runtime/postgres.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createSealer, warnWithoutKeys, type Sealer } from '#runtime/sealing.ts'
import { createTakeTurn } from '#runtime/take-turns.ts'
import { createKafkaContext, type KafkaContext } from '#runtime/service-context.ts'
import { services } from '#schemas/services.ts'
import { avroSchemas, topics, type TopicDefinition, type TopicValues } from '#schemas/topics.ts'
import { createAccessChanges } from '#http/access/access-changes.ts'
import { createAuthenticate } from '#http/access/authenticate.ts'
import { createKeyDirectory, type KeyDirectory } from '#http/access/key-directory.ts'
import { maxCallBytes, type IngestFields } from './config.ts'
import { createAnswerBudget } from '#http/answer-budget.ts'
import { createBodyBudget } from '#http/body-budget.ts'
import type { HttpCore } from '#http/http-service.ts'
import type { Route } from '#http/route.ts'
import { createLogCalls, type LogCalls } from './log-calls.ts'
import { ingestRoutes } from './routes.ts'
import { createMasking } from './steps/mask-records.ts'
import { createAdmit } from './steps/admit-together.ts'
import { createPublishCall } from './steps/publish-call.ts'
import { createWaitingPublisher } from './steps/publish-waiting.ts'
import { createKeyStore } from '#http/access/key-store.ts'
import { createKeyUses } from '#http/access/key-uses.ts'
import { createPriceStore } from './stores/price-store.ts'
import { createQuotaStore } from './stores/quota-store.ts'
import { createWaitingCallStore } from './stores/waiting-call-store.ts'

const repository = join(import.meta.dirname, '..', '..')
/** How long a client waits for Kafka before it gets 503. */
const sendTimeoutMs = 10_000

const notListening = 'cannot listen for revoked keys; checking every key at every use'

/** The parts of ingest. The API, which serves ingest's routes too, uses the same ones. */
export interface IngestCore extends KafkaContext<TopicValues>, HttpCore {
  routes: readonly Route[]
  keys: KeyDirectory
  /** Sees a project's rows inside `inProjectTransaction`, and none outside. */
  pool: Pool
  sealer: Sealer
}

interface IngestDependencies extends ProcessDependencies {
  name: string
  /** Of Postgres. Default: the pool's. */
  statementTimeoutMs?: number
}

export function createIngestCore(config: IngestFields, dependencies: IngestDependencies): IngestCore {
  const { clock } = dependencies
  const parts = createParts(config, dependencies)
  const { prices, pool, producer, sealer } = parts
  const maxRecordBytes = maxCallBytes(config)
  const { changes, uses, keys } = createAccess(pool, dependencies)
  const masking = createMasking({ ...dependencies, keys: config.SEARCH_KEY })
  const logCalls = createLogCalls({
    ...dependencies,
    keys,
    admit: createAdmit(createQuotaStore(pool), clock),
    publish: createPublishCall({ producer, sealer, sign: parts.sign, ...callTopics(parts) }),
    prices,
    maxRecordBytes,
    masking,
  })
  const waiting = createWaiting(config, { ...dependencies, pool, sealer, logCalls })

  return {
    ...parts,
    routes: ingestRoutes({
      logCalls,
      waitingCalls: waiting.store,
      maxRecordBytes,
      metrics: dependencies.metrics,
    }),
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
      await parts.prepareCodecs()
      waiting.publisher.start()
    },
    async stop() {
      prices.stop()
      await waiting.publisher.stop()
      await masking.stop()
      await uses.stop()
      await changes.stop()
      await producer.stop()
      await pool.end()
    },
    problems: (): Record<string, string> => {
      const ofPrices = prices.problem()
      return {
        ...(!changes.isListening() && { postgres: notListening }),
        ...(ofPrices !== undefined && { prices: ofPrices }),
        ...producer.health().problems,
      }
    },
  }
}

/** Calls whose words come by themselves. */
function createWaiting(
  config: IngestFields,
  dependencies: IngestDependencies & { pool: Pool; sealer: Sealer; logCalls: LogCalls },
) {
  const { pool, sealer, clock } = dependencies
  const takeTurn = createTakeTurn()
  const store = createWaitingCallStore({
    ...{ pool, sealer, clock, takeTurn },
    waitMs: config.SPAN_WAIT_MS,
    isSealed: config.BODY_ENCRYPTION_KEYS.length > 0,
    maxCallBytes: maxCallBytes(config),
  })
  return { store, publisher: createWaitingPublisher({ ...dependencies, store, takeTurn }) }
}

/** Keys, what changes of them, and their uses. */
function createAccess(pool: Pool, { log, clock }: IngestDependencies) {
  const changes = createAccessChanges({
    pool,
    log,
    clock,
    onChange: (projectId) => keys.forgetProject(projectId),
  })
  const keys = createKeyDirectory({
    store: createKeyStore(pool),
    clock,
    receivesChanges: changes.isListening,
  })
  return { changes, keys, uses: createKeyUses({ pool, clock, log }) }
}

function createParts(config: IngestFields, dependencies: IngestDependencies) {
  const { log, metrics, name, statementTimeoutMs } = dependencies
  warnWithoutKeys(config.BODY_ENCRYPTION_KEYS, log)
  return {
    ...createKafkaContext<TopicValues>(config, dependencies, {
      name,
      avroSchemas,
      writes: services.ingest.kafka.writes,
      producer: { sendTimeoutMs },
    }),
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
    sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
    sign: createSignCall(config.SEARCH_KEY),
    bodyBudget: createBodyBudget(config.BODIES_MAX_BYTES, metrics),
    answerBudget: createAnswerBudget(config.BODIES_MAX_BYTES, metrics),
  }
}

function callTopics({ nameOf, codecOf }: KafkaContext<TopicValues>) {
  const topicOf = (topic: TopicDefinition<'LlmRequestLogged'>) => ({
    name: nameOf(topic),
    encoder: codecOf(topic),
  })
  return { logged: topicOf(topics.requestLogged), ephemeral: topicOf(topics.requestEphemeral) }
}
