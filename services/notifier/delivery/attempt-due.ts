import { drop, ok, type Outcome } from '#runtime/outcome.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { Release } from '../limits/wait-queue.ts'
import { openOrRefuse } from '../steps/open-message.ts'
import { claimLeaseMs, type Asker, type Attempt, type Parts } from './attempt.ts'
import { runAttempt, type RunAttempts } from './run-attempts.ts'
import { attemptName } from './unwritten-attempts.ts'
import type { FollowFailure } from './write-ends.ts'

export interface AttemptDueDependencies extends Pick<
  Parts,
  'webhooks' | 'deliveries' | 'destinations' | 'unwritten' | 'openSecrets' | 'joinEvent' | 'clock'
> {
  run: RunAttempts
  follow: FollowFailure
}

/**
 * Not before `untilMs` (Unix milliseconds). `leased`: another notifier holds the attempt. `held`: its
 * destination's turn comes later (destination-store.ts).
 */
export type DueEnd = { kind: 'decided'; outcome: Outcome } | { kind: 'leased' | 'held'; untilMs: number }

/** Claims the attempt that a delivery is due for and runs it. A second call does not repeat the attempt. */
export type AttemptDue = (delivery: WebhookDelivery, release: Release, asker: Asker) => Promise<DueEnd>

type Claimed = Omit<Attempt, 'release'>

export function createAttemptDue(dependencies: AttemptDueDependencies): AttemptDue {
  const { webhooks, deliveries, destinations, run, follow, unwritten, clock } = dependencies
  const claim = async (delivery: WebhookDelivery, asker: Asker): Promise<Claimed | DueEnd> => {
    const name = attemptName(delivery)
    const sent = unwritten.find(name)
    const webhook = await webhooks.find(delivery.project_id, delivery.webhook_id)
    if (webhook === undefined) {
      unwritten.remove(name)
      return decided(drop('webhook_gone'))
    }
    if (sent !== undefined) return { delivery, webhook, what: sent }
    const what = openOrRefuse(delivery, webhook, !asker.hasRecord, dependencies)
    if (webhook.kind !== 'webhook') {
      const untilMs = await destinations.admit(delivery, webhook)
      if (untilMs !== undefined) return { kind: 'held', untilMs }
    }
    const answer = await deliveries.claim(delivery)
    if (answer.kind === 'gone') return decided(drop('webhook_gone'))
    if (answer.kind === 'superseded') return decided(drop('already_made'))
    if (answer.kind === 'leased') return answer
    if (answer.kind === 'failed_before') {
      await follow(delivery, answer)
      return decided(ok())
    }
    return { delivery, webhook, what }
  }
  return async (delivery, release, asker) => {
    const untilMs = clock.now() + claimLeaseMs
    let claimed: Claimed | DueEnd | undefined
    try {
      claimed = await claim(delivery, asker)
    } finally {
      if (claimed === undefined || 'kind' in claimed) release()
    }
    if ('kind' in claimed) return claimed
    await runAttempt(run, { ...claimed, release }, untilMs, asker)
    return decided(ok())
  }
}

export function decided(outcome: Outcome): DueEnd {
  return { kind: 'decided', outcome }
}
