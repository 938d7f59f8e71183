import type { topics } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

export type DeliveryTopic = Extract<keyof typeof topics, `delivery${string}`>

/** Specification 3.3: three retries, each with its delay and the topic that holds it. */
const retries: readonly { topic: DeliveryTopic; delayMs: number }[] = [
  { topic: 'deliveryRetry1s', delayMs: 1_000 },
  { topic: 'deliveryRetry2s', delayMs: 2_000 },
  { topic: 'deliveryRetry4s', delayMs: 4_000 },
]

/** Delay of a retry after the attempt before; 0 for a first attempt. */
export function retryDelayMs({
  attempt,
  first_attempt: first,
}: Pick<WebhookDelivery, 'attempt' | 'first_attempt'>): number {
  return retries[attempt - first - 1]?.delayMs ?? 0
}

/** Whether no retry follows a failure of this attempt. */
export function isLastAttempt(delivery: Pick<WebhookDelivery, 'attempt' | 'first_attempt'>): boolean {
  return delivery.attempt - delivery.first_attempt >= retries.length
}

export interface FailedAttempt {
  /** Unix milliseconds. */
  failedAtMs: number
  error: string
  /** No retry follows. */
  isLast: boolean
}

export interface PlannedDelivery {
  topic: DeliveryTopic
  delivery: WebhookDelivery
}

/** Where a delivery goes after a failed attempt. */
export function planNext(
  delivery: WebhookDelivery,
  { failedAtMs, error, isLast }: FailedAttempt,
): PlannedDelivery {
  const retry = retries[delivery.attempt - delivery.first_attempt]
  if (isLast || retry === undefined)
    return { topic: 'deliveryDead', delivery: { ...delivery, last_error: error } }
  const next = {
    ...delivery,
    attempt: delivery.attempt + 1,
    // One more: the clock counts whole milliseconds, and the delay is a minimum.
    due_at: failedAtMs + retry.delayMs + 1,
    last_error: error,
  }
  return { topic: retry.topic, delivery: next }
}
