import type { PermanentError } from '#runtime/errors.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { Release } from '../limits/wait-queue.ts'
import type { Message } from '../steps/open-message.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'

/** An attempt that holds a permit of its endpoint. */
export interface Attempt {
  delivery: WebhookDelivery
  webhook: Webhook
  /**
   * The message to send; why it cannot be sent; or how it ended, where it was sent before and not written.
   */
  what: Message | PermanentError | FinishedAttempt
  release: Release
}

/** What asks for attempts. */
export interface Asker {
  /**
   * A Kafka record asks for them and is tried again after a failure. Without one, writes are retried here.
   */
  hasRecord: boolean
  /**
   * Called when the receiver takes longer than {@link patienceMs}. `written` resolves once the result is
   * stored, and rejects where that failed. For the asker the attempt is over when the returned promise is
   * settled.
   */
  onSlow(delivery: WebhookDelivery, written: Promise<void>): Promise<void>
}

/** Specification 3.3: a receiver answers within 10 s. */
export const receiverTimeoutMs = 10_000
/** Lease of a claim. Longer than an attempt of 10 s and the writes after it. */
export const claimLeaseMs = 15_000
/**
 * After this time no asker waits for a receiver. Measured from the sending: time spent in Postgres or in this
 * process does not make a receiver slow.
 */
export const patienceMs = 250
