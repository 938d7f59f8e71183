import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import { chunkDeliveries, chunkRows } from '../steps/chunk-deliveries.ts'
import { createBatcher } from '../stores/batcher.ts'
import type { DeliveryStore } from '../stores/delivery-store.ts'
import type { Parts } from './attempt.ts'

export interface HandOverDependencies extends Pick<Parts, 'publisher' | 'limiter'> {
  deliveries: Pick<DeliveryStore, 'insert' | 'insertWaiting'>
  metrics: Pick<NotifierMetrics, 'waiting'>
}

export type HandOver = ReturnType<typeof createHandOver>

/** Leaves first attempts to others. The row is written first, so that the attempt finds it. */
export function createHandOver(dependencies: HandOverDependencies) {
  const { deliveries, publisher, limiter, metrics } = dependencies
  const publish = createBatcher<WebhookDelivery, undefined>({
    maxItems: chunkRows,
    async run(due) {
      for (const chunk of chunkDeliveries(due)) {
        await deliveries.insert(chunk)
        await publisher.publish(chunk.map((delivery) => ({ topic: 'deliveryDue', delivery })))
      }
      return due.map(() => undefined)
    },
  })
  const insertWaiting = createBatcher<WebhookDelivery, boolean>({
    keyOf: ({ delivery_id: id }) => id,
    maxItems: chunkRows,
    async run(due) {
      const waits: boolean[] = []
      for (const chunk of chunkDeliveries(due)) waits.push(...(await deliveries.insertWaiting(chunk)))
      return waits
    },
  })
  return {
    /** Hands over by a record on `webhook.delivery.due`. */
    publish,
    /** By a row of `webhook_waiting`. For a slow endpoint a record would only be read to write that row. */
    async wait(delivery: WebhookDelivery): Promise<void> {
      limiter.holdBack(delivery)
      // Another notifier may be writing it at this moment. A record asks for it once that claim is over.
      if (await insertWaiting(delivery)) metrics.waiting.inc({ reason: 'endpoint_full' })
      else await publish(delivery)
    },
  }
}
