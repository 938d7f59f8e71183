import type { DestinationKind } from '#schemas/destinations.ts'
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

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/**
 * Pauses of destinations after the third retry: four days in all, so that a weekend's outage loses nothing.
 */
const pausesMs = [
  ...[minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, 8 * hourMs, 12 * hourMs],
  ...[24 * hourMs, 24 * hourMs, 24 * hourMs],
]
const maxPauseMs = 24 * hourMs

/** Whether no retry follows a failure of this attempt. Webhooks get three (specification 3.3). */
export function isLastAttempt(
  delivery: Pick<WebhookDelivery, 'attempt' | 'first_attempt'>,
  kind: DestinationKind,
): boolean {
  const failures = delivery.attempt - delivery.first_attempt
  return failures >= retries.length + (kind === 'webhook' ? 0 : pausesMs.length)
}

export interface FailedAttempt {
  /** Unix milliseconds. */
  failedAtMs: number
  error: string
  /** No retry follows. */
  isLast: boolean
  /** What the receiver asked for (Retry-After); destinations keep to it, up to a day. */
  retryAfterMs?: number | null
}

export interface PlannedDelivery {
  topic: DeliveryTopic
  delivery: WebhookDelivery
}

/** A retry that waits in the database, because no topic has its delay. */
export interface PausedDelivery {
  waitMs: number
  delivery: WebhookDelivery
}

/** A delivery that failed for good. */
export function deadDelivery(delivery: WebhookDelivery, error: string): PlannedDelivery {
  return { topic: 'deliveryDead', delivery: { ...delivery, last_error: error } }
}

/** Where a delivery goes after a failed attempt. */
export function planNext(
  delivery: WebhookDelivery,
  { failedAtMs, error, isLast, retryAfterMs }: FailedAttempt,
): PlannedDelivery | PausedDelivery {
  const failures = delivery.attempt - delivery.first_attempt
  const retry = retries[failures]
  const delayMs = retry?.delayMs ?? pausesMs[failures - retries.length]
  if (isLast || delayMs === undefined) return deadDelivery(delivery, error)
  const next = {
    ...delivery,
    attempt: delivery.attempt + 1,
    // One more: the clock counts whole milliseconds, and the delay is a minimum.
    due_at: failedAtMs + delayMs + 1,
    last_error: error,
  }
  const waitMs = Math.min(maxPauseMs, Math.max(delayMs, retryAfterMs ?? 0))
  return retry !== undefined && waitMs === delayMs
    ? { topic: retry.topic, delivery: next }
    : { waitMs, delivery: { ...next, due_at: failedAtMs + waitMs } }
}
