import { drop, type Outcome } from '#runtime/outcome.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { claimLeaseMs, type Parts } from '../delivery/attempt.ts'
import type { UnderWay } from '../delivery/run-attempts.ts'
import type { WaitingDue } from '../stores/waiting-store.ts'

export type SetAside = ReturnType<typeof createSetAside>

/**
 * Hands attempts to the database (`webhook_waiting`): a slow endpoint must not hold up the records of others.
 */
export function createSetAside({
  waiting,
  limiter,
  underWay,
  metrics,
  log,
}: Pick<Parts, 'waiting' | 'limiter' | 'metrics' | 'log'> & { underWay: UnderWay }) {
  const wait = async (delivery: WebhookDelivery, reason: string, due: WaitingDue): Promise<Outcome> => {
    await waiting.add(delivery, due)
    metrics.waiting.inc({ reason })
    return drop(reason)
  }
  return {
    /** The attempt is made later. */
    wait,
    /**
     * Continues an attempt at a slow receiver without its record. Its row is removed once the result is
     * stored; if this process crashes, the row falls due after the claim.
     */
    goOn(delivery: WebhookDelivery, written: Promise<void>): Promise<Outcome> {
      limiter.note(delivery.webhook_id, true)
      const aside = wait(delivery, 'slow', { inMs: claimLeaseMs })
      const removeAtEnd = async () => {
        try {
          await written
          await aside
          await waiting.remove(delivery)
        } catch (error) {
          log.error({ err: error, delivery_id: delivery.delivery_id }, 'attempt will be repeated later')
        }
      }
      void underWay.track(removeAtEnd())
      return aside
    },
  }
}
