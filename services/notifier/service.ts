import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { messageOf } from '#runtime/errors.ts'
import { groupSettingsOf, type GroupSettings } from '#runtime/kafka/assignment.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { oncePerTurn } from '#runtime/kafka/once-per-turn.ts'
import { createParallelConsumer, type ParallelConsumerOptions } from '#runtime/kafka/parallel-consumer.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import type { Producer, RecordHandler } from '#runtime/kafka/records.ts'
import { createRegistryCodec, type Codec } from '#runtime/kafka/registry-codec.ts'
import type { Log } from '#runtime/log.ts'
import { createPool } from '#runtime/postgres.ts'
import { createDnsResolver } from '#runtime/resolve-host.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import { createSealer, type Sealer } from '#runtime/sealing.ts'
import type { Service } from '#runtime/service.ts'
import { avroSchemas, topics, type TopicDefinition, type TopicValues } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { claimLeaseMs, receiverTimeoutMs } from './delivery/attempt.ts'
import type { NotifierConfig } from './config.ts'
import { createDeliveryPublisher, type DeliveryPublisher } from './delivery/delivery-publisher.ts'
import { createEndpointLimiter } from './limits/endpoint-limiter.ts'
import { createDelivering } from './delivery/create-delivering.ts'
import type { FanOut } from './delivery/fan-out.ts'
import { createGiveUpDelivery } from './delivery/give-up-delivery.ts'
import { createNotifierMetrics, type NotifierMetrics } from './notifier-metrics.ts'
import { createSendMessage } from './sending/send-message.ts'
import { createSender } from './sending/send-attempt.ts'
import { createExpressionCache } from './steps/expression-cache.ts'
import { createJoinEvent } from './steps/open-event.ts'
import { createOpenSecrets } from './steps/open-secrets.ts'
import { createDueTimes } from './steps/read-due-time.ts'
import { createAbandonDelivery } from './stores/abandon-delivery.ts'
import { createDeliveryStore } from './stores/delivery-store.ts'
import { createWaitingStore } from './stores/waiting-store.ts'
import { createWebhookStore } from './stores/webhook-store.ts'
import { createUnwrittenAttempts } from './delivery/unwritten-attempts.ts'
import { createWaitingPump } from './waiting/waiting-pump.ts'

const dnsTimeoutMs = 2_500
/**
 * Records of one partition under way. A record is done within a fraction of a second (delivery-handler.ts),
 * whatever receivers do. With 128, the last partitions of a burst wait for commits: a tenth fewer deliveries
 * a second. After a crash as many are tried one by one: 5 to 10 s, or 30 s where receivers take 100 ms.
 */
const recordsAtOnce = 256
const retryTopics = [topics.deliveryRetry1s, topics.deliveryRetry2s, topics.deliveryRetry4s]
const deliveryTopics = [topics.deliveryDue, ...retryTopics, topics.deliveryDead]

/** What every part of the notifier is given. */
interface NotifierContext extends ProcessDependencies {
  config: NotifierConfig
  kafka: Kafka
  /** Settings of its consumer groups. */
  group: Partial<GroupSettings>
  pool: Pool
  producer: Producer
  sealer: Sealer
  notifierMetrics: NotifierMetrics
  publisher: DeliveryPublisher
  events: Codec<TopicValues['EventRaised']>
  deliveries: ReadonlyMap<TopicDefinition, Codec<WebhookDelivery>>
}

/**
 * The notifier: events become deliveries, deliveries are attempted, failed ones are retried, in one process.
 */
export function createNotifier(config: NotifierConfig, dependencies: ProcessDependencies): Service {
  const context = createServiceContext(config, dependencies)
  const { log, pool, producer } = context
  const connections: Part = {
    start: () => prepareCodecs([...context.deliveries.values()], log),
    stop: () => pool.end(),
  }
  return runTogether([connections, producer, ...createParts(context)], log)
}

function createServiceContext(config: NotifierConfig, dependencies: ProcessDependencies): NotifierContext {
  const { log, metrics } = dependencies
  const kafka = createKafka(config, { clientId: 'sluice-notifier', log })
  const registry = createRegistryCodec({ url: config.SCHEMA_REGISTRY_URL, log })
  const codecOf = <T>(topic: TopicDefinition) =>
    registry.codec<T>({
      subject: `${config.TOPIC_PREFIX}${topic.name}-value`,
      schema: avroSchemas[topic.schema],
    })
  const deliveries = new Map<TopicDefinition, Codec<WebhookDelivery>>(
    deliveryTopics.map((topic) => [topic, codecOf<WebhookDelivery>(topic)]),
  )
  const producer = createProducer({ kafka, log, metrics, maxRecordBytes: config.KAFKA_MAX_RECORD_BYTES })
  return {
    ...dependencies,
    config,
    kafka,
    group: groupSettingsOf(config),
    producer,
    pool: createPool(config, { log, metrics, applicationName: 'sluice-notifier', readsByKey: true }),
    sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
    notifierMetrics: createNotifierMetrics(metrics),
    events: codecOf(topics.eventRaised),
    deliveries,
    publisher: createDeliveryPublisher({
      producer,
      topicPrefix: config.TOPIC_PREFIX,
      encoderOf: (topic) => deliveries.get(topics[topic]) as Codec<WebhookDelivery>,
    }),
  }
}

/** Once the schema ids are known, deliveries are written through an outage of the registry. */
async function prepareCodecs(codecs: readonly Codec<WebhookDelivery>[], log: Log): Promise<void> {
  try {
    await Promise.all(codecs.map((codec) => codec.prepare()))
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'the schema registry did not answer; deliveries wait for it')
  }
}

/** Puts the parts together. First attempts, retries and waiting attempts share the permits of the limiter. */
function createParts(context: NotifierContext): Part[] {
  const { config, pool, sealer, clock, notifierMetrics: metrics } = context
  const total = config.WEBHOOK_CONCURRENCY
  const sender = createSender({
    policy: { insecureHosts: config.WEBHOOK_ALLOW_INSECURE, ports: config.WEBHOOK_PORTS },
    ca: config.WEBHOOK_CA,
    resolveHost: createDnsResolver(dnsTimeoutMs),
    timeoutMs: receiverTimeoutMs,
    maxConnections: total,
  })
  const limiter = createEndpointLimiter({
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
    openSecrets: createOpenSecrets(sealer),
    joinEvent: createJoinEvent(sealer),
    unwritten: createUnwrittenAttempts(metrics, clock),
    expressions: createExpressionCache(),
    sendMessage: createSendMessage({ ...context, sender, limiter, metrics }),
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
    },
  }
  const pump = createWaitingPump({ ...shared, attemptDue, giveUp })
  return [sending, pump, ...createConsumers(context, deliver, fanOut)]
}

function createConsumers(
  context: NotifierContext,
  deliver: RecordHandler<WebhookDelivery>,
  fanOut: FanOut,
): Service[] {
  const { config, clock, events } = context
  const consumerOf = <T>(
    name: string,
    from: readonly TopicDefinition[],
    own: Pick<
      ParallelConsumerOptions<T>,
      'decoder' | 'handler' | 'groupHandler' | 'notBefore' | 'sparesPlaces'
    >,
  ) =>
    createParallelConsumer<T>({
      ...context,
      groupId: `${config.TOPIC_PREFIX}notifier-${name}`,
      topics: from.map((topic) => config.TOPIC_PREFIX + topic.name),
      concurrency: config.WEBHOOK_CONCURRENCY,
      window: recordsAtOnce,
      ...own,
    })
  // All of these topics carry the same record. Its writer's schema is found by the id in front of it.
  const decoder = context.deliveries.get(topics.deliveryDue) as Codec<WebhookDelivery>
  const delivering = { decoder, handler: deliver }
  const dueTimeOf = createDueTimes(clock)
  return [
    consumerOf('retry', retryTopics, { ...delivering, notBefore: ({ value }) => dueTimeOf(value) }),
    consumerOf('due', [topics.deliveryDue], delivering),
    consumerOf('fan-out', [topics.eventRaised], {
      decoder: events,
      handler: fanOut.handle,
      groupHandler: fanOut.handleGroup,
      sparesPlaces: true,
    }),
  ]
}
