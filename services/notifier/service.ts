import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import { messageOf } from '#runtime/errors.ts'
import { groupSettingsOf, type GroupSettings } from '#runtime/kafka/assignment.ts'
import { createBatchConsumer } from '#runtime/kafka/batch-consumer.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { oncePerTurn } from '#runtime/kafka/once-per-turn.ts'
import { createParallelConsumer } from '#runtime/kafka/parallel-consumer.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import type { ConsumedRecord, Producer } from '#runtime/kafka/records.ts'
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
import { claimLeaseMs, createAttemptDelivery } from './attempt-delivery.ts'
import type { NotifierConfig } from './config.ts'
import { createDeliveryHandler } from './delivery-handler.ts'
import { createDeliveryPublisher, type DeliveryPublisher } from './delivery-publisher.ts'
import { createEndpointSlots } from './endpoint-slots.ts'
import { createFanOutHandler } from './fan-out-handler.ts'
import { createGiveUpDelivery } from './give-up-delivery.ts'
import { createNotifierMetrics, type NotifierMetrics } from './notifier-metrics.ts'
import { createSender } from './sending/send-attempt.ts'
import { createExpressionCache } from './steps/expression-cache.ts'
import { createJoinEvent } from './steps/open-event.ts'
import { createOpenSecrets } from './steps/open-secrets.ts'
import { createDueTimes } from './steps/read-due-time.ts'
import { createAbandonDelivery } from './stores/abandon-delivery.ts'
import { createDeliveryStore } from './stores/delivery-store.ts'
import { createWaitingStore } from './stores/waiting-store.ts'
import { createWebhookStore } from './stores/webhook-store.ts'
import { createWaitingPump } from './waiting-pump.ts'

/** Specification 3.3: a receiver answers within 10 s. */
const receiverTimeoutMs = 10_000
const dnsTimeoutMs = 2_500
/**
 * Of one partition. Records end within a fraction of a second (delivery-handler.ts), whatever receivers do. With less, the partitions that
 * are left at the end of a burst wait for commits: 128 made a tenth fewer deliveries a second. So many are tried one by one after a crash: in
 * 5 to 10 s, in 30 where receivers take 100 ms.
 */
const recordsAtOnce = 256
const retryTopics = [topics.deliveryRetry1s, topics.deliveryRetry2s, topics.deliveryRetry4s]
const deliveryTopics = [topics.deliveryDue, ...retryTopics, topics.deliveryDead]

/** What every part of the notifier stands on. */
interface Ground extends ProcessDependencies {
  config: NotifierConfig
  kafka: Kafka
  /** Of its consumer groups. */
  group: Partial<GroupSettings>
  pool: Pool
  producer: Producer
  sealer: Sealer
  notifierMetrics: NotifierMetrics
  publisher: DeliveryPublisher
  events: Codec<TopicValues['EventRaised']>
  deliveries: ReadonlyMap<TopicDefinition, Codec<WebhookDelivery>>
}

/** The notifier: events become deliveries, deliveries are attempted, failed ones are retried, in one process. */
export function createNotifier(config: NotifierConfig, dependencies: ProcessDependencies): Service {
  const ground = layGround(config, dependencies)
  const { log, pool, producer } = ground
  const connections: Part = {
    start: () => prepareCodecs([...ground.deliveries.values()], log),
    stop: () => pool.end(),
  }
  return runTogether([connections, producer, ...createDelivering(ground), createFanOut(ground)], log)
}

function layGround(config: NotifierConfig, dependencies: ProcessDependencies): Ground {
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
  const producer = createProducer({ kafka, log, metrics })
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

/** With the ids known, deliveries are written through an outage of the registry. */
async function prepareCodecs(codecs: readonly Codec<WebhookDelivery>[], log: Log): Promise<void> {
  try {
    await Promise.all(codecs.map((codec) => codec.prepare()))
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'the schema registry did not answer; deliveries wait for it')
  }
}

function createFanOut(ground: Ground): Service {
  const { config, pool, events, sealer, publisher } = ground
  return createBatchConsumer({
    ...ground,
    groupId: `${config.TOPIC_PREFIX}notifier-fan-out`,
    topics: [config.TOPIC_PREFIX + topics.eventRaised.name],
    decoder: events,
    handler: createFanOutHandler({
      webhooks: createWebhookStore(pool),
      deliveries: createDeliveryStore(pool, claimLeaseMs),
      publisher,
      joinEvent: createJoinEvent(sealer),
      expressions: createExpressionCache(),
      metrics: ground.notifierMetrics,
    }),
    maxBatchRecords: 500,
    // A batch mostly waits for Postgres and for the broker's acknowledgement; one after the other they would be what limits it all.
    partitionsConcurrently: 6,
  })
}

/** First attempts, retries and those that wait share the places at an endpoint, and nothing else. */
function createDelivering(ground: Ground): Part[] {
  const { config, pool, sealer, publisher, clock, log } = ground
  const perEndpoint = config.WEBHOOK_ENDPOINT_CONCURRENCY
  const concurrency = config.WEBHOOK_CONCURRENCY
  const sender = createSender({
    policy: { insecureHosts: config.WEBHOOK_ALLOW_INSECURE, ports: config.WEBHOOK_PORTS },
    ca: config.WEBHOOK_CA,
    resolveHost: createDnsResolver(dnsTimeoutMs),
    timeoutMs: receiverTimeoutMs,
    maxConnections: concurrency,
  })
  const metrics = ground.notifierMetrics
  const slots = createEndpointSlots({
    perEndpoint,
    total: concurrency,
    onChange: oncePerTurn(() => {
      metrics.inFlight.set(slots.taken)
      metrics.knownEndpoints.set(slots.known)
    }),
  })
  const attempt = createAttemptDelivery({
    webhooks: createWebhookStore(pool),
    deliveries: createDeliveryStore(pool, claimLeaseMs),
    publisher,
    sender,
    openSecrets: createOpenSecrets(sealer),
    joinEvent: createJoinEvent(sealer),
    slots,
    metrics,
    clock,
  })
  const giveUp = createGiveUpDelivery({ ...ground, abandon: createAbandonDelivery(pool), metrics })
  const waiting = createWaitingStore(pool)
  const delivering = createDeliveryHandler({ attempt, slots, waiting, metrics, log })
  const dueTimeOf = createDueTimes(clock)
  const consumerOf = (name: string, from: readonly TopicDefinition[], areDue: boolean) =>
    createParallelConsumer<WebhookDelivery>({
      ...ground,
      groupId: `${config.TOPIC_PREFIX}notifier-${name}`,
      topics: from.map((topic) => config.TOPIC_PREFIX + topic.name),
      // All of these topics carry the same record; whoever wrote it is found by the id in front of it.
      decoder: ground.deliveries.get(topics.deliveryDue) as Codec<WebhookDelivery>,
      handler: delivering.handle,
      concurrency,
      window: recordsAtOnce,
      ...(areDue ? {} : { notBefore: ({ value }: ConsumedRecord<WebhookDelivery>) => dueTimeOf(value) }),
    })
  const sending: Part = {
    start: () => Promise.resolve(),
    stop: async () => {
      await delivering.drained()
      await sender.close()
    },
  }
  return [
    sending,
    createWaitingPump({ attempt, giveUp, slots, waiting, metrics, log, clock }),
    consumerOf('retry', retryTopics, false),
    consumerOf('due', [topics.deliveryDue], true),
  ]
}
