import { createParallelConsumer } from '#runtime/kafka/parallel-consumer.ts'
import type { ConsumedRecord } from '#runtime/kafka/records.ts'
import { runTogether, type Part } from '#runtime/run-together.ts'
import type { Service } from '#runtime/service.ts'
import { topics, type TopicDefinition } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { claimLeaseMs } from '#services/notifier/delivery/attempt.ts'
import { createDeliveryPublisher } from '#services/notifier/delivery/delivery-publisher.ts'
import { EndpointLimiter } from '#services/notifier/limits/endpoint-limiter.ts'
import { createDelivering } from '#services/notifier/delivery/create-delivering.ts'
import { createNotifierMetrics } from '#services/notifier/notifier-metrics.ts'
import { createSendMessage } from '#services/notifier/sending/send-message.ts'
import { createExpressionCache } from '#services/notifier/steps/expression-cache.ts'
import { createJoinEvent } from '#services/notifier/steps/open-message.ts'
import { createOpenSecrets } from '#services/notifier/steps/open-secrets.ts'
import { createUnwrittenAttempts } from '#services/notifier/delivery/unwritten-attempts.ts'
import { WaitingPump } from '#services/notifier/waiting/waiting-pump.ts'
import {
  createSimDeliveryStore,
  createSimWaitingStore,
  createSimWebhookStore,
} from '../tables/delivery-tables.ts'
import type { SimContext } from './context.ts'
import type { Receivers } from './receivers.ts'

const few = { perEndpoint: 2, total: 16 }
const many = { perEndpoint: 32, total: 256 }
const retryTopics = [topics.deliveryRetry1s, topics.deliveryRetry2s, topics.deliveryRetry4s]

/** Histories have webhooks only. */
function onlyWebhooks(): Promise<never> {
  return Promise.reject(new Error('no destination is simulated'))
}

/** Assembled like services/notifier/service.ts. */
export function startSimNotifier(context: SimContext, receivers: Receivers): Service {
  const { database, producer, codecs, log } = context
  const metrics = createNotifierMetrics(context.metrics)
  // Few: most events wait for permits. Many: most start together, those of unknown endpoints too.
  const limiter = new EndpointLimiter(context.world.random.pick([few, many]))
  const shared = {
    ...context,
    webhooks: createSimWebhookStore(database),
    deliveries: createSimDeliveryStore(database, claimLeaseMs),
    publisher: createDeliveryPublisher({ producer, encoderOf: () => codecs.deliveries, topicPrefix: '' }),
    openSecrets: createOpenSecrets(context.sealer),
    joinEvent: createJoinEvent(context.sealer),
    unwritten: createUnwrittenAttempts(metrics, context.clock),
    limiter,
    sendMessage: createSendMessage({
      ...context,
      sender: receivers.sender,
      sendToDestination: onlyWebhooks,
      limiter,
      metrics,
    }),
    expressions: createExpressionCache(),
    waiting: createSimWaitingStore(database),
    destinations: { admit: onlyWebhooks },
    metrics,
  }
  const { fanOut: events, deliver, attemptDue, drained } = createDelivering(shared)
  const consumerOf = (name: string, from: readonly TopicDefinition[], areDue: boolean) =>
    createParallelConsumer<WebhookDelivery>({
      ...context,
      groupId: `notifier-${name}`,
      topics: from.map((topic) => topic.name),
      decoder: codecs.deliveries,
      handler: deliver,
      concurrency: 16,
      window: 8,
      ...(areDue ? {} : { notBefore: ({ value }: ConsumedRecord<WebhookDelivery>) => value.due_at }),
    })
  const sending: Part = { start: () => Promise.resolve(), stop: () => drained() }
  const fanOut = createParallelConsumer<RaisedEvent>({
    ...context,
    groupId: 'notifier-fan-out',
    topics: [topics.eventRaised.name],
    decoder: codecs.events,
    handler: events.handle,
    groupHandler: events.handleGroup,
    concurrency: 16,
    window: 8,
    sparesPlaces: true,
  })
  return runTogether(
    [
      sending,
      new WaitingPump({ ...shared, attemptDue, giveUp: refusedNothing }),
      consumerOf('retry', retryTopics, false),
      consumerOf('due', [topics.deliveryDue], true),
      fanOut,
    ],
    log,
  )
}

function refusedNothing(): Promise<never> {
  return Promise.reject(new Error('nothing is refused for good here'))
}
