import { TransientError, type PermanentError } from '#runtime/errors.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { deadDelivery } from '../steps/plan-next.ts'
import type { AbandonDelivery } from '../stores/delivery-store.ts'
import type { Parts } from './attempt.ts'

/** Ends a delivery as failed after a permanent error of its attempt. Rejects with transient errors. */
export type GiveUpDelivery = (delivery: WebhookDelivery, reason: PermanentError) => Promise<void>

export function createGiveUpDelivery({
  abandon,
  publisher,
  metrics,
  log,
}: Pick<Parts, 'publisher' | 'metrics' | 'log'> & { abandon: AbandonDelivery }): GiveUpDelivery {
  return async (delivery, reason) => {
    // Postgres stores no NUL, and a reason may quote one.
    const error = `cannot be attempted: ${reason.message.replaceAll('\0', '')}`
    await abandon(delivery, error)
    try {
      await publisher.publish([deadDelivery(delivery, error)])
    } catch (failure) {
      if (failure instanceof TransientError) throw failure
      // The attempt may have failed because of this record. The delivery log has it in any case.
      log.error({ err: failure, delivery_id: delivery.delivery_id }, 'cannot publish a dead delivery')
    }
    metrics.dead.inc()
  }
}
