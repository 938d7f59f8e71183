import type { topics } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

export type DeliveryTopic = Extract<keyof typeof topics, `delivery${string}`>

/** Specification 3.3: three retries, each with its delay and the topic that holds it. */
const retries: readonly { topic: DeliveryTopic; delayMs: number }[] = [
  { topic: 'deliveryRetry1s', delayMs: 1_000 },
  { topic: 'deliveryRetry2s', delayMs: 2_000 },
  { topic: 'deliveryRetry4s', delayMs: 4_000 },
]

/** How long after the attempt before it a retry is made; 0: it is none. */
export function retryDelayMs({
  attempt,
  first_attempt: first,
}: Pick<WebhookDelivery, 'attempt' | 'first_attempt'>): number {
  return retries[attempt - first - 1]?.delayMs ?? 0
}

/** Whether nothing follows when this attempt fails. */
export function isLastAttempt(delivery: Pick<WebhookDelivery, 'attempt' | 'first_attempt'>): boolean {
  return delivery.attempt - delivery.first_attempt >= retries.length
}

export interface FailedAttempt {
  /** Unix milliseconds. */
  failedAtMs: number
  error: string
  /** Nothing follows. */
  isLast: boolean
}

/** Where a delivery goes whose attempt failed. */
export function planNext(
  delivery: WebhookDelivery,
  { failedAtMs, error, isLast }: FailedAttempt,
): { topic: DeliveryTopic; delivery: WebhookDelivery } {
  const retry = retries[delivery.attempt - delivery.first_attempt]
  if (isLast || retry === undefined)
    return { topic: 'deliveryDead', delivery: { ...delivery, last_error: error } }
  const next = {
    ...delivery,
    attempt: delivery.attempt + 1,
    // One more, because the clock counts whole milliseconds and the delay is at least its nominal value.
    due_at: failedAtMs + retry.delayMs + 1,
    last_error: error,
  }
  return { topic: retry.topic, delivery: next }
}
