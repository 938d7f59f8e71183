import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import { disabledBecause } from '../sending/send-message.ts'
import { planNext, type FailedAttempt } from '../steps/plan-next.ts'
import { asError } from '../stores/batcher.ts'
import type { DeliveryStore, FinishedAttempt } from '../stores/delivery-store.ts'
import type { WebhookStore } from '../stores/webhook-store.ts'
import type { DeliveryPublisher } from './delivery-publisher.ts'
import type { Ended } from './in-flight-batch.ts'
import { attemptName, type UnwrittenAttempts } from './unwritten-attempts.ts'

export interface WriteDependencies {
  webhooks: WebhookStore
  deliveries: DeliveryStore
  follow: FollowFailure
  unwritten: UnwrittenAttempts
  metrics: NotifierMetrics
}

/** Publishes what follows a failed attempt: a retry, or the dead delivery. */
export type FollowFailure = (delivery: WebhookDelivery, failed: FailedAttempt) => Promise<void>

export function createFollowFailure(dependencies: {
  publisher: DeliveryPublisher
  metrics: Pick<NotifierMetrics, 'dead'>
}): FollowFailure {
  const { publisher, metrics } = dependencies
  return async (delivery, failed) => {
    await publisher.publish([planNext(delivery, failed)])
    if (failed.isLast) metrics.dead.inc()
  }
}

/**
 * Stores results by one statement and publishes what follows the failed ones. Returns null or an error for
 * each.
 */
export type WriteEnds = (group: readonly Ended[]) => Promise<readonly (Error | null)[]>

export function createWriteEnds(dependencies: WriteDependencies): WriteEnds {
  const { deliveries, follow, unwritten } = dependencies
  return async (group) => {
    for (const { attempt, result } of group) unwritten.add(attemptName(attempt.delivery), result)
    try {
      const ended: { delivery: WebhookDelivery; attempt: FinishedAttempt }[] = []
      for (const one of group) {
        const attempt = isPlain(one) ? one.result : await noteHealth(one, dependencies)
        ended.push({ delivery: one.attempt.delivery, attempt })
      }
      const errors = await deliveries.finishAll(ended)
      for (const [index, { delivery, attempt }] of ended.entries()) {
        if (errors[index] !== null) continue
        const { finishedAtMs: failedAtMs, error, isLast } = attempt
        if (error !== null) await follow(delivery, { failedAtMs, error, isLast })
        unwritten.remove(attemptName(delivery))
      }
      return errors
    } catch (error) {
      return group.map(() => asError(error))
    }
  }
}

/** True where nothing but the row has to be written. Only such results may share a group. */
export function isPlain({ attempt, result }: Ended): boolean {
  return result.error === null && !attempt.webhook.isFailing
}

/**
 * Keeps with the webhook whether its receiver is reached. The delivery log says when the webhook is disabled
 * for it.
 */
async function noteHealth(
  { attempt: { webhook }, result }: Ended,
  { webhooks, metrics }: WriteDependencies,
): Promise<FinishedAttempt> {
  if (result.error === null) {
    await webhooks.noteDelivered(webhook.id)
    return result
  }
  if (!result.isLast || !result.wasSent) return result
  const { reason, isNew } = await webhooks.noteFailure(webhook.id)
  if (isNew) metrics.disabled.inc()
  return reason === null ? result : { ...result, error: `${result.error}; ${disabledBecause(reason)}` }
}
