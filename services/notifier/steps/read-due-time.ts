import type { Clock } from '#runtime/clock.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { retryDelayMs } from './plan-next.ts'

/**
 * When a retry falls due (Unix milliseconds). Its time is by the clock of the notifier that wrote it. A retry that would have to wait longer
 * than its delay shows that the two clocks disagree, by so much at least; from then on that much is taken off such times. Otherwise a notifier
 * whose clock was an hour ahead for a minute would hold up its partitions for an hour.
 */
export function createDueTimes(clock: Clock): (delivery: WebhookDelivery) => number {
  let aheadMs = 0
  return (delivery) => {
    // One more, as it is planned (plan-next.ts).
    const latestMs = clock.now() + retryDelayMs(delivery) + 1
    if (delivery.due_at <= latestMs) return delivery.due_at
    aheadMs = Math.max(aheadMs, delivery.due_at - latestMs)
    return delivery.due_at - aheadMs
  }
}
