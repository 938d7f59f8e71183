import type { Log } from '#runtime/log.ts'
import { drop, type Outcome } from '#runtime/outcome.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { claimLeaseMs } from '../delivery/attempt.ts'
import type { UnderWay } from '../delivery/under-way.ts'
import type { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import type { WaitingDue, WaitingStore } from '../stores/waiting-store.ts'

export interface SetAsideDependencies {
  waiting: WaitingStore
  limiter: EndpointLimiter
  underWay: UnderWay
  metrics: Pick<NotifierMetrics, 'waiting'>
  log: Log
}

/**
 * Hands attempts to the database (`webhook_waiting`), so that one slow endpoint does not hold up the records
 * of others.
 */
export interface SetAside {
  /** The attempt is made later. */
  wait(delivery: WebhookDelivery, reason: string, due: WaitingDue): Promise<Outcome>
  /**
   * An attempt at a slow receiver goes on without its record. Its row is removed once the result is written;
   * if this process dies, the row falls due after the claim has run out.
   */
  goOn(delivery: WebhookDelivery, written: Promise<void>): Promise<Outcome>
}

export function createSetAside(dependencies: SetAsideDependencies): SetAside {
  const { waiting, limiter, underWay, metrics, log } = dependencies
  const wait: SetAside['wait'] = async (delivery, reason, due) => {
    await waiting.add(delivery, due)
    metrics.waiting.inc({ reason })
    return drop(reason)
  }
  return {
    wait,
    goOn(delivery, written) {
      limiter.note(delivery.webhook_id, true)
      const aside = wait(delivery, 'slow', { inMs: claimLeaseMs })
      const removeAtEnd = async () => {
        try {
          await written
          await aside
          await waiting.remove(delivery)
        } catch (error) {
          log.error({ err: error, delivery_id: delivery.delivery_id }, 'an attempt is made again later')
        }
      }
      void underWay.track(removeAtEnd())
      return aside
    },
  }
}
