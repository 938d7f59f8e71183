import type { Clock } from '#runtime/clock.ts'
import type { PermanentError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import type { Release } from '../limits/wait-queue.ts'
import type { EventTraces } from '../event-traces.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import type { SendMessage } from '../sending/send-message.ts'
import type { ExpressionCache } from '../steps/expression-cache.ts'
import type { JoinEvent, Message } from '../steps/open-message.ts'
import type { OpenSecrets } from '../steps/open-secrets.ts'
import type { DeliveryStore, FinishedAttempt } from '../stores/delivery-store.ts'
import type { DestinationStore } from '../stores/destination-store.ts'
import type { WaitingStore } from '../stores/waiting-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { WebhookStore } from '../stores/webhook-store.ts'
import type { DeliveryPublisher } from './delivery-publisher.ts'
import type { UnwrittenAttempts } from './unwritten-attempts.ts'

/** What the functions of this folder are built from. Each takes the parts that it uses. */
export interface Parts {
  webhooks: WebhookStore
  deliveries: DeliveryStore
  waiting: WaitingStore
  destinations: DestinationStore
  publisher: DeliveryPublisher
  limiter: EndpointLimiter
  unwritten: UnwrittenAttempts
  openSecrets: OpenSecrets
  joinEvent: JoinEvent
  expressions: ExpressionCache
  sendMessage: SendMessage
  metrics: NotifierMetrics
  /** Undefined where traces are off. */
  eventTraces?: EventTraces | undefined
  log: Log
  clock: Clock
}

/** An attempt that holds a permit of its endpoint. */
export interface Attempt {
  delivery: WebhookDelivery
  webhook: Webhook
  /** The message to send, or why it cannot be sent, or the result if it was sent but not stored. */
  what: Message | PermanentError | FinishedAttempt
  release: Release
}

/** What asks for attempts. */
export interface Asker {
  /** True: a Kafka record, which is retried after a failure. False: writes are retried here. */
  hasRecord: boolean
  /**
   * Called when the receiver takes longer than {@link askerWaitMs}. `written` settles once the result is
   * stored or lost. The attempt is over for the asker when the returned promise settles.
   */
  onSlow(delivery: WebhookDelivery, written: Promise<void>): Promise<void>
}

/** Specification 3.3: a receiver answers within 10 s. */
export const receiverTimeoutMs = 10_000
/** Lease of a claim. Longer than an attempt of 10 s and the writes after it. */
export const claimLeaseMs = 15_000
/**
 * How long an asker waits for a receiver. From the sending: time in Postgres or here makes no receiver slow.
 */
export const askerWaitMs = 250
