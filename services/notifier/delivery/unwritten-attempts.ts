import type { Clock } from '#runtime/clock.ts'
import { whenAsked } from '#runtime/metrics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'

/**
 * Attempts that were sent, but are not written down because Postgres is away: when the runtime tries again they must not be sent again.
 * There is room for so many, for an hour: longer, and another notifier has made it (attempt-due.ts). The oldest is forgotten then, and
 * sent again with the same ids, should anybody ask for it.
 */
export interface UnwrittenAttempts {
  find(name: string): FinishedAttempt | undefined
  add(name: string, attempt: FinishedAttempt): void
  remove(name: string): void
}

/** What an attempt is known by here. */
export function attemptName({ delivery_id: id, attempt }: WebhookDelivery): string {
  return `${id}/${attempt}`
}

/** With an excerpt of 2 kB each: 20 MB. A process has a few hundred at work on each partition. */
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
