import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { disabledBecause } from '../sending/send-message.ts'
import { planNext, type FailedAttempt } from '../steps/plan-next.ts'
import { asError } from '../stores/batcher.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import type { Parts } from './attempt.ts'
import type { Ended } from './in-flight-batch.ts'
import { attemptName } from './unwritten-attempts.ts'

export interface WriteDependencies extends Pick<Parts, 'webhooks' | 'deliveries' | 'unwritten' | 'metrics'> {
  follow: FollowFailure
}

/** Publishes what follows a failed attempt: a retry, or the dead delivery. */
export type FollowFailure = (delivery: WebhookDelivery, failed: FailedAttempt) => Promise<void>

export function createFollowFailure({
  publisher,
  waiting,
  metrics,
}: Pick<Parts, 'publisher' | 'waiting' | 'metrics'>): FollowFailure {
  return async (delivery, failed) => {
    const next = planNext(delivery, failed)
    if ('waitMs' in next) await waiting.add(next.delivery, { inMs: next.waitMs })
    else await publisher.publish([next])
    if (failed.isLast) metrics.dead.inc()
  }
}

/** Stores results by one statement and publishes what follows failures. Returns null or an error for each. */
export type WriteEnds = (group: readonly Ended[]) => Promise<readonly (Error | null)[]>

export function createWriteEnds(dependencies: WriteDependencies): WriteEnds {
  const { deliveries, follow, unwritten } = dependencies
  return async (group) => {
    for (const { attempt, result } of group) unwritten.add(attemptName(attempt.delivery), result)
    try {
      const ended: { delivery: WebhookDelivery; attempt: FinishedAttempt }[] = []
      for (const one of group) {
        const attempt = isPlain(one) ? one.result : await noteHealth(one, dependencies)
        ended.push({ delivery: one.attempt.delivery, attempt })
      }
      const errors = await deliveries.finishAll(ended)
      for (const [index, { delivery, attempt }] of ended.entries()) {
        if (errors[index] !== null) continue
        const { finishedAtMs: failedAtMs, error, isLast, retryAfterMs = null } = attempt
        if (error !== null) await follow(delivery, { failedAtMs, error, isLast, retryAfterMs })
        unwritten.remove(attemptName(delivery))
      }
      return errors
    } catch (error) {
      return group.map(() => asError(error))
    }
  }
}

/** Whether the row is all there is to write. Only such results may share a group. */
export function isPlain({ attempt, result }: Ended): boolean {
  return result.error === null && !attempt.webhook.isFailing
}

/** Notes with the webhook whether its receiver is reached. If that disables it, the delivery log says so. */
async function noteHealth(
  { attempt: { webhook }, result }: Ended,
  { webhooks, metrics }: WriteDependencies,
): Promise<FinishedAttempt> {
  if (result.error === null) {
    await webhooks.noteDelivered(webhook.id)
    return result
  }
  if (!result.isLast || !result.wasSent) return result
  const { reason, isNew } = await webhooks.noteFailure(webhook.id)
  if (isNew) metrics.disabled.inc()
  return reason === null ? result : { ...result, error: `${result.error}; ${disabledBecause(reason)}` }
}
