import { createMaskKeys } from '#capture/masking/mask-key.ts'
import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import type { Environment } from '#runtime/config.ts'
import { databaseRoles } from '#runtime/database-roles.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createPool } from '#runtime/postgres.ts'
import { topics } from '#schemas/topics.ts'
import { createHttpService, type HttpService } from '#http/http-service.ts'
import type { Route } from '#http/route.ts'
import { createIngestCore, type IngestCore } from '#services/ingest/ingest-core.ts'
import type { ApiConfig } from './config.ts'
import { createDeclaredStart, defaultTierOf } from './declared/declared-start.ts'
import { createDrop } from './dead-letters/drop.ts'
import { createReadLetters } from './dead-letters/read-letters.ts'
import { createRedrive } from './dead-letters/redrive.ts'
import { createShowContent } from './dead-letters/show-content.ts'
import { createDocsPages } from './http/docs-pages.ts'
import { describeApi } from './http/openapi.ts'
import { auditRoutes } from './routes/audit-routes.ts'
import { billingRoutes } from './routes/billing-routes.ts'
import { deadLetterRoutes } from './routes/dead-letter-routes.ts'
import { deliveryRoutes } from './routes/delivery-routes.ts'
import { findingChangeRoutes } from './routes/finding-change-routes.ts'
import { gatewayRoutes } from './routes/gateway-routes.ts'
import { erasureRoutes } from './routes/erasure-routes.ts'
import { keyRoutes } from './routes/key-routes.ts'
import { leaseRoute } from './routes/lease-route.ts'
import { meRoutes } from './routes/me-routes.ts'
import { operationRoutes } from './routes/operation-routes.ts'
import { paymentRoutes } from './routes/payment-routes.ts'
import { peopleRoutes } from './routes/people-routes.ts'
import { projectRoutes } from './routes/project-routes.ts'
import { redteamRoutes } from './routes/redteam-routes.ts'
import { searchRoutes } from './routes/search-routes.ts'
import { signInRoutes } from './routes/sign-in-routes.ts'
import { readingRoutes } from './routes/reading-routes.ts'
import { savedViewRoutes } from './routes/saved-view-routes.ts'
import { scorerRoutes } from './routes/scorer-routes.ts'
import { scoreRunRoutes } from './routes/score-run-routes.ts'
import { tryExpressionRoute } from './routes/try-expression-route.ts'
import { destinationRoutes } from './routes/destination-routes.ts'
import { webhookRoutes } from './routes/webhook-routes.ts'
import { createAuthenticatePeople } from './people/authenticate-people.ts'
import { createPasswordHasher } from './people/hash-password.ts'
import { createTidyPeople } from './people/tidy-people.ts'
import { createPaymentProvider } from './billing/payment-provider.ts'
import { createLoginStore, type LoginLimits } from './stores/login-store.ts'
import { createThrottleStore } from './stores/login-throttle-store.ts'
import { createCountedDays } from './stores/counted-days.ts'
import { createKeyAdminStore } from './stores/key-admin-store.ts'
import { createLeaseStore } from './stores/lease-store.ts'
import { createPaymentStore } from './stores/payment-store.ts'
import { createProjectDatabases, type ProjectDatabases } from './stores/project-database.ts'
import { createProjectStore } from './stores/project-store.ts'
import { createWatchStatements } from './stores/watch-statements.ts'
import { createFindThread, type FindThread } from './search/find-thread.ts'
import { createSearchSlots } from './search/search-slots.ts'
import { createCheckDestination } from './webhooks/check-destination.ts'
import { createCheckWebhook, createResolveHost } from './webhooks/check-webhook.ts'

/** The version in /openapi.json; raised when the API changes. */
const apiVersion = '0.1.0'
/** For users and the dashboard's overview; requests by key have their own pool. */
const operatorConnections = 4

interface ApiDependencies extends ProcessDependencies {
  /** For the references of SLUICE_INIT_FILE. */
  environment?: Environment
}

/** The API, with ingest's routes mounted in it. */
export function createApi(config: ApiConfig, dependencies: ApiDependencies): HttpService {
  const core = createIngestCore(config, {
    ...dependencies,
    name: 'api',
    statementTimeoutMs: config.STATEMENT_TIMEOUT_MS,
  })
  const operatorPool = createOperatorPool(config, dependencies)
  const declared = createDeclaredStart(config, { ...dependencies, operatorPool, sealer: core.sealer })
  const thread = createFindThread(config.BODY_ENCRYPTION_KEYS)
  const limits = loginLimits(config)
  const authenticate = createAuthenticatePeople(
    core.authenticate,
    createLoginStore(core.pool, dependencies.clock, limits),
  )
  const routes = [
    ...core.routes,
    ...apiRoutes(config, { core, operatorPool, thread }, dependencies),
    ...peopleAndSignInRoutes({ ...dependencies, pool: operatorPool, limits }),
  ]
  const tidying = createTidyPeople({
    ...dependencies,
    pool: operatorPool,
    throttles: createThrottleStore(operatorPool),
    limits,
    auditMs: config.AUDIT_RETENTION_DAYS * 24 * 60 * minuteMs,
  })
  const pages = createDocsPages({
    describe: () => describeApi({ routes, baseUrl: config.PUBLIC_BASE_URL, version: apiVersion }),
    authenticate,
    requireKey: config.DOCS_REQUIRE_KEY,
  })
  return createHttpService({
    core: {
      ...core,
      authenticate,
      async start() {
        await core.start()
        await declared.apply()
        tidying.start()
      },
      async stop() {
        declared.stop()
        await tidying.stop()
        await core.stop()
        await thread.stop()
        await operatorPool.end()
      },
    },
    routes,
    pages,
    host: config.API_HOST,
    port: config.API_PORT,
    leadMs: config.DRAIN_LEAD_MS,
    ...dependencies,
  })
}

/** Sees every project. Only for operators' routes: routes of a project use `databases` and `core.pool`. */
function createOperatorPool(config: ApiConfig, { log, metrics }: ProcessDependencies): Pool {
  return createPool(
    { ...config, DATABASE_POOL_SIZE: Math.min(config.DATABASE_POOL_SIZE, operatorConnections) },
    {
      log,
      metrics,
      applicationName: 'api-operator',
      role: databaseRoles(config.DATABASE_ROLE_PREFIX).operator,
      answersAtOnce: true,
      statementTimeoutMs: config.STATEMENT_TIMEOUT_MS,
    },
  )
}

function paymentParts(config: ApiConfig, operatorPool: Pool) {
  const { STRIPE_API_KEY: apiKey, STRIPE_API_BASE: baseUrl, STRIPE_PRICES: prices } = config
  return {
    provider: apiKey === undefined ? undefined : createPaymentProvider({ apiKey, baseUrl }),
    prices,
    payments: createPaymentStore(operatorPool, (price) => prices.tierOf(price)),
    webhookSecret: config.PAYMENT_WEBHOOK_SECRET,
  }
}

function apiRoutes(
  config: ApiConfig,
  { core, operatorPool, thread }: { core: IngestCore; operatorPool: Pool; thread: FindThread },
  dependencies: ProcessDependencies,
): Route[] {
  const { clock, log, metrics } = dependencies
  const { pool, sealer, producer } = core
  const databases = createProjectDatabases({
    pool,
    operatorPool,
    watch: createWatchStatements({ log, metrics, slowMs: config.SLOW_QUERY_MS }),
    countedDays: createCountedDays(pool, clock),
  })
  const [projects, claimSlot] = [createProjectStore(operatorPool), createSearchSlots(pool)]
  const maskKeyOf = createMaskKeys(config.SEARCH_KEY)
  const defaultTier = defaultTierOf(config)
  const outbound = { insecureHosts: config.WEBHOOK_ALLOW_INSECURE, ports: config.WEBHOOK_PORTS }
  const resolveHost = createResolveHost(clock, config.WEBHOOK_PROXY_RESOLVES)
  const checkWebhook = createCheckWebhook(outbound, resolveHost)
  return [
    // Before findings, whose {id} would match `owners`.
    ...findingChangeRoutes({ databases, operatorPool, clock, dashboardUrl: config.DASHBOARD_URL }),
    ...searchRoutes({ databases, keys: config.SEARCH_KEY, thread, claimSlot, clock, metrics }),
    ...readingRoutes({ databases, sealer, clock }),
    ...scoreRunRoutes({ databases, pool: operatorPool, sealer, clock }),
    ...scorerRoutes({ databases, sealer, clock }),
    ...redteamRoutes({
      databases,
      sealer,
      clock,
      dashboardUrl: config.DASHBOARD_URL,
      allowedHosts: config.REDTEAM_ALLOWED_HOSTS,
    }),
    ...billingRoutes({ databases, clock }),
    ...paymentRoutes({ ...dependencies, ...paymentParts(config, operatorPool), databases }),
    ...webhookRoutes({ databases, sealer, clock, check: checkWebhook }),
    ...destinationRoutes({
      databases,
      sealer,
      clock,
      hasKeys: config.BODY_ENCRYPTION_KEYS.length > 0,
      checkWebhook,
      check: createCheckDestination(outbound, config.DESTINATION_ALLOW, resolveHost),
    }),
    tryExpressionRoute({ databases, sealer }),
    ...deliveryRoutes({
      databases,
      clock,
      producer,
      dashboardUrl: config.DASHBOARD_URL,
      due: { name: core.nameOf(topics.deliveryDue), encoder: core.codecOf(topics.deliveryDue) },
    }),
    ...projectRoutes({ projects, directory: core.keys, defaultTier, canMask: maskKeyOf !== null, clock }),
    ...watchingRoutes({ databases, operatorPool, core, topicPrefix: config.TOPIC_PREFIX, clock }),
    ...gatewayRoutes({ directory: core.keys, databases, maskKeyOf, clock }),
    ...erasureRoutes({ databases, clock }),
    ...auditRoutes({ databases }),
    ...keyRoutes({ projects, keys: createKeyAdminStore(operatorPool), directory: core.keys, clock }),
    leaseRoute({ leases: createLeaseStore(operatorPool), clock }),
  ]
}

const minuteMs = 60_000

function loginLimits(config: ApiConfig): LoginLimits {
  return { idleMs: config.LOGIN_IDLE_MINUTES * minuteMs, maxMs: config.LOGIN_MAX_HOURS * 60 * minuteMs }
}

/** Users of the dashboard, their logins and roles. */
function peopleAndSignInRoutes(parts: ProcessDependencies & { pool: Pool; limits: LoginLimits }): Route[] {
  const own = { ...parts, hasher: createPasswordHasher(), throttles: createThrottleStore(parts.pool) }
  return [...signInRoutes(own), ...meRoutes(own), ...savedViewRoutes(own), ...peopleRoutes(own)]
}

interface WatchingParts {
  databases: ProjectDatabases
  operatorPool: Pool
  core: IngestCore
  topicPrefix: string
  clock: Clock
}

/** Queues, gateways and dead letters. */
function watchingRoutes({ core, operatorPool, ...parts }: WatchingParts): Route[] {
  const { kafka, producer, registry } = core
  const readLetters = createReadLetters(kafka, parts.topicPrefix)
  const own = { ...parts, pool: operatorPool, readLetters }
  return [
    ...deadLetterRoutes({
      ...own,
      redrive: createRedrive({ ...own, producer }),
      showContent: createShowContent({ ...own, registry }),
      drop: createDrop(own),
    }),
    ...operationRoutes({ ...parts, operatorPool, kafka, problems: () => core.problems() }),
  ]
}
