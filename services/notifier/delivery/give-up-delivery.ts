import type { Clock } from '#runtime/clock.ts'
import { TransientError, type PermanentError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { DeliveryPublisher } from './delivery-publisher.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import { planNext } from '../steps/plan-next.ts'
import type { AbandonDelivery } from '../stores/abandon-delivery.ts'

export interface GiveUpDependencies {
  abandon: AbandonDelivery
  publisher: DeliveryPublisher
  metrics: Pick<NotifierMetrics, 'dead'>
  log: Log
  clock: Clock
}

/** Ends a delivery as failed after a permanent error of its attempt. Rejects with transient errors. */
export type GiveUpDelivery = (delivery: WebhookDelivery, reason: PermanentError) => Promise<void>

/** Postgres stores no NUL, and a reason may quote one. */
const nul = '\0'

export function createGiveUpDelivery(dependencies: GiveUpDependencies): GiveUpDelivery {
  const { abandon, publisher, metrics, log, clock } = dependencies
  return async (delivery, reason) => {
    const error = `cannot be attempted: ${reason.message.replaceAll(nul, '')}`
    await abandon(delivery, error)
    try {
      await publisher.publish([planNext(delivery, { failedAtMs: clock.now(), error, isLast: true })])
    } catch (failure) {
      if (failure instanceof TransientError) throw failure
      // The record may be what the attempt failed on. The delivery log has it all the same.
      log.error(
        { err: failure, delivery_id: delivery.delivery_id },
        'a failed delivery cannot be put among the dead ones',
      )
    }
    metrics.dead.inc()
  }
}
