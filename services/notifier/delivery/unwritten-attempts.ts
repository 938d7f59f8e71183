import type { Clock } from '#runtime/clock.ts'
import { whenAsked } from '#runtime/metrics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'

/**
 * Attempts sent but not stored, because Postgres is away: a retry must not send them again. Kept for an hour;
 * by then another notifier has made them. Beyond the limit the oldest is forgotten, and sent again with the
 * same ids.
 */
export interface UnwrittenAttempts {
  find(name: string): FinishedAttempt | undefined
  add(name: string, attempt: FinishedAttempt): void
  remove(name: string): void
}

/** The key of an attempt. */
export function attemptName({ delivery_id: id, attempt }: WebhookDelivery): string {
  return `${id}/${attempt}`
}

/** 20 MB with an excerpt of 2 kB each. A process has a few hundred in flight for each partition. */
const defaultLimit = 10_000
const keptMs = 3_600_000

export function createUnwrittenAttempts(
  metrics: Pick<NotifierMetrics, 'unwritten' | 'forgotten'>,
  clock: Pick<Clock, 'now'>,
  limit = defaultLimit,
): UnwrittenAttempts {
  const attempts = new Map<string, { attempt: FinishedAttempt; sinceMs: number }>()
  whenAsked(metrics.unwritten, () => metrics.unwritten.set(attempts.size))
  return {
    find: (name) => attempts.get(name)?.attempt,
    add(name, attempt) {
      attempts.delete(name)
      const nowMs = clock.now()
      attempts.set(name, { attempt, sinceMs: nowMs })
      for (const [oldest, { sinceMs }] of attempts) {
        if (attempts.size <= limit && nowMs - sinceMs <= keptMs) break
        attempts.delete(oldest)
        metrics.forgotten.inc()
      }
    },
    remove: (name) => void attempts.delete(name),
  }
}
