import type { Clock } from '#runtime/clock.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { retryDelayMs } from './plan-next.ts'

/**
 * When a retry falls due (Unix milliseconds), by the clock of the notifier that wrote it. A retry due later
 * than its delay shows by how much that clock is ahead at least, and that much is subtracted from such times.
 * Otherwise a clock that was an hour ahead for a minute would hold up its partitions for an hour. A much
 * smaller lead is another host's: with the hour subtracted, hosts some milliseconds apart would have no
 * delays.
 */
export function createDueTimes(clock: Clock): (delivery: WebhookDelivery) => number {
  let aheadMs = 0
  return (delivery) => {
    // One more, as in plan-next.ts.
    const latestMs = clock.now() + retryDelayMs(delivery) + 1
    const leadMs = delivery.due_at - latestMs
    if (leadMs <= 0) return delivery.due_at
    if (leadMs > aheadMs || leadMs < aheadMs / 2) aheadMs = leadMs
    return delivery.due_at - aheadMs
  }
}
