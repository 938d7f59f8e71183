import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

/** Limit of one statement and one request to Kafka: 500 events for 1,000 webhooks are 500,000 deliveries. */
export const chunkRows = 1_000
/** A thousand arguments of tool calls (64 KiB each) would exceed what the producer takes (64 MiB). */
const chunkBytes = 8 * 1024 * 1024

/** Splits deliveries, in order, into chunks within both limits, each of at least one. */
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
