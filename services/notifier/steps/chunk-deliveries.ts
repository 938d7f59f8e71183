import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

/**
 * Of one statement and one request to Kafka: 500 events for a thousand webhooks each are half a million
 * deliveries.
 */
export const chunkRows = 1_000
/** A thousand times the arguments of one tool call (64 Ki) would be more than the producer takes (64 MiB). */
const chunkBytes = 8 * 1024 * 1024

/** The deliveries in their order, in chunks of so many rows and bytes at most, each of at least one. */
export function chunkDeliveries(deliveries: readonly WebhookDelivery[]): WebhookDelivery[][] {
  const chunks: WebhookDelivery[][] = []
  let bytes = 0
  for (const delivery of deliveries) {
    const own = delivery.event.data.length + (delivery.event.content?.data.length ?? 0)
    const open = chunks.at(-1)
    if (open === undefined || open.length >= chunkRows || bytes + own > chunkBytes) {
      chunks.push([delivery])
      bytes = own
    } else {
      open.push(delivery)
      bytes += own
    }
  }
  return chunks
}
