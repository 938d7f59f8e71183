import type { Clock } from '#runtime/clock.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { retryDelayMs } from './plan-next.ts'

/**
 * When a retry falls due (Unix milliseconds). Its time is by the clock of the notifier that wrote it. A retry
 * that would have to wait longer than its delay shows that the two clocks disagree, by so much at least; that
 * much is taken off such times. Otherwise a notifier whose clock was an hour ahead for a minute would hold up
 * its partitions for an hour. A much smaller difference is another one: had the hour been taken off that too,
 * hosts that are some milliseconds apart would have no delays any more.
 */
export function createDueTimes(clock: Clock): (delivery: WebhookDelivery) => number {
  let aheadMs = 0
  return (delivery) => {
    // One more, as it is planned (plan-next.ts).
    const latestMs = clock.now() + retryDelayMs(delivery) + 1
    const leadMs = delivery.due_at - latestMs
    if (leadMs <= 0) return delivery.due_at
    if (leadMs > aheadMs || leadMs < aheadMs / 2) aheadMs = leadMs
    return delivery.due_at - aheadMs
  }
}
