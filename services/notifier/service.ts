import { oncePerTurn } from '#runtime/kafka/once-per-turn.ts'
import { createParallelConsumer, type ParallelConsumerOptions } from '#runtime/kafka/parallel-consumer.ts'
import type { RecordHandler } from '#runtime/kafka/records.ts'
import { createDnsResolver } from '#runtime/resolve-host.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import { createSealer, type Sealer } from '#runtime/sealing.ts'
import { createServiceContext, type ServiceContext } from '#runtime/service-context.ts'
import type { Service } from '#runtime/service.ts'
import { services } from '#schemas/services.ts'
import { avroSchemas, topics, type TopicValues } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { createAuditStore } from './audit/audit-store.ts'
import { AuditStream } from './audit/audit-stream.ts'
import { claimLeaseMs, receiverTimeoutMs } from './delivery/attempt.ts'
import type { NotifierConfig } from './config.ts'
import type { EventTraces } from './event-traces.ts'
import { createDeliveryPublisher, type DeliveryPublisher } from './delivery/delivery-publisher.ts'
import { EndpointLimiter } from './limits/endpoint-limiter.ts'
import { createDelivering } from './delivery/create-delivering.ts'
import type { FanOut } from './delivery/fan-out.ts'
import { createGiveUpDelivery } from './delivery/give-up-delivery.ts'
import { createDestinations } from './destinations/create-destinations.ts'
import { createNotifierMetrics, type NotifierMetrics } from './notifier-metrics.ts'
import { createSendMessage } from './sending/send-message.ts'
import { createSender } from './sending/send-attempt.ts'
import { createExpressionCache } from './steps/expression-cache.ts'
import { createJoinEvent } from './steps/open-message.ts'
import { createOpenSecrets } from './steps/open-secrets.ts'
import { createDueTimes } from './steps/read-due-time.ts'
import { createAbandonDelivery } from './stores/delivery-store.ts'
import { createDeliveryStore } from './stores/delivery-store.ts'
import { createDestinationStore } from './stores/destination-store.ts'
import { createWaitingStore } from './stores/waiting-store.ts'
import { createWebhookStore } from './stores/webhook-store.ts'
import { createUnwrittenAttempts } from './delivery/unwritten-attempts.ts'
import { WaitingPump } from './waiting/waiting-pump.ts'

const dnsTimeoutMs = 2_500
/**
 * Records of one partition under way. A record is done within a fraction of a second (delivery-handler.ts),
 * whatever receivers do. With 128, the last partitions of a burst wait for commits: a tenth fewer deliveries
 * a second. After a crash as many are tried one by one: 5 to 10 s, or 30 s where receivers take 100 ms.
 */
const recordsAtOnce = 256
const { groups } = services.notifier.kafka

/** Shared dependencies of the notifier's parts. */
interface NotifierContext extends ServiceContext<NotifierConfig, TopicValues> {
  sealer: Sealer
  notifierMetrics: NotifierMetrics
  publisher: DeliveryPublisher
  /** Undefined where traces are off. */
  eventTraces: EventTraces | undefined
}

/**
 * The notifier: events become deliveries, deliveries are attempted, failed ones are retried, in one process.
 */
export function createNotifier(config: NotifierConfig, dependencies: ProcessDependencies): Service {
  const context = createNotifierContext(config, dependencies)
  return runTogether([...context.connections, ...createParts(context)], context.log)
}

function createNotifierContext(config: NotifierConfig, dependencies: ProcessDependencies): NotifierContext {
  const context = createServiceContext<NotifierConfig, TopicValues>(config, dependencies, {
    name: 'sluice-notifier',
    avroSchemas,
    writes: services.notifier.kafka.writes,
    pool: { readsByKey: true },
  })
  const eventTraces: EventTraces | undefined = dependencies.tracing && new WeakMap()
  return {
    ...context,
    eventTraces,
    sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
    notifierMetrics: createNotifierMetrics(dependencies.metrics),
    publisher: createDeliveryPublisher({
      producer: context.producer,
      topicPrefix: config.TOPIC_PREFIX,
      encoderOf: (topic) => context.codecOf(topics[topic]),
      eventTraces,
    }),
  }
}

/** Puts the parts together. First attempts, retries and waiting attempts share the permits of the limiter. */
function createParts(context: NotifierContext): Part[] {
  const { config, pool, sealer, clock, notifierMetrics: metrics } = context
  const total = config.WEBHOOK_CONCURRENCY
  const policy = { insecureHosts: config.WEBHOOK_ALLOW_INSECURE, ports: config.WEBHOOK_PORTS }
  const resolveHost = createDnsResolver(dnsTimeoutMs)
  const sender = createSender({
    policy,
    ca: config.WEBHOOK_CA,
    egress: config,
    resolveHost,
    timeoutMs: receiverTimeoutMs,
    maxConnections: total,
  })
  const destinations = createDestinations({ ...context, policy, resolveHost })
  const limiter = new EndpointLimiter({
    perEndpoint: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    total,
    onChange: oncePerTurn(() => {
      metrics.inFlight.set(limiter.taken)
      metrics.knownEndpoints.set(limiter.known)
    }),
  })
  const shared = {
    ...context,
    webhooks: createWebhookStore(pool),
    deliveries: createDeliveryStore(pool, claimLeaseMs),
    waiting: createWaitingStore(pool),
    destinations: createDestinationStore(pool, () => clock.now()),
    openSecrets: createOpenSecrets(sealer),
    joinEvent: createJoinEvent(sealer),
    unwritten: createUnwrittenAttempts(metrics, clock),
    expressions: createExpressionCache(),
    sendMessage: createSendMessage({
      ...context,
      sender,
      sendToDestination: destinations.send,
      limiter,
      metrics,
    }),
    limiter,
    metrics,
  }
  const { fanOut, deliver, attemptDue, drained } = createDelivering(shared)
  const giveUp = createGiveUpDelivery({ ...context, abandon: createAbandonDelivery(pool), metrics })
  const sending: Part = {
    start: () => Promise.resolve(),
    stop: async () => {
      await drained()
      await sender.close()
      await destinations.close()
    },
  }
  const pump = new WaitingPump({ ...shared, attemptDue, giveUp })
  const { sendAudit: send } = destinations
  const store = createAuditStore(pool)
  const audit = send === undefined ? [] : [new AuditStream({ ...shared, store, send })]
  return [sending, pump, ...audit, ...createConsumers(context, deliver, fanOut)]
}

function createConsumers(
  context: NotifierContext,
  deliver: RecordHandler<WebhookDelivery>,
  fanOut: FanOut,
): Service[] {
  const { config, clock, nameOf, codecOf } = context
  const consumerOf = <T>(
    group: keyof typeof groups,
    own: Pick<
      ParallelConsumerOptions<T>,
      'decoder' | 'handler' | 'groupHandler' | 'notBefore' | 'sparesPlaces'
    >,
  ) =>
    createParallelConsumer<T>({
      ...context,
      groupId: config.TOPIC_PREFIX + group,
      topics: groups[group].map(nameOf),
      concurrency: config.WEBHOOK_CONCURRENCY,
      window: recordsAtOnce,
      ...own,
    })
  // All of these topics carry the same record. Its writer's schema is found by the id in front of it.
  const delivering = { decoder: codecOf(topics.deliveryDue), handler: deliver }
  const dueTimeOf = createDueTimes(clock)
  return [
    consumerOf('notifier-retry', { ...delivering, notBefore: ({ value }) => dueTimeOf(value) }),
    consumerOf('notifier-due', delivering),
    consumerOf('notifier-fan-out', {
      decoder: codecOf(topics.eventRaised),
      handler: fanOut.handle,
      groupHandler: fanOut.handleGroup,
      sparesPlaces: true,
    }),
  ]
}
