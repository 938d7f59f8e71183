import type { Clock } from '#runtime/clock.ts'
import { drop, ok } from '#runtime/outcome.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import {
  claimLeaseMs,
  decided,
  recordAsks,
  type AttemptEnd,
  type AttemptProgress,
  type MakeAttempt,
} from './make-attempt.ts'
import { openOrRefuse, type MessageDependencies } from '../steps/open-message.ts'
import type { DeliveryStore } from '../stores/delivery-store.ts'
import type { WebhookStore } from '../stores/webhook-store.ts'
import { attemptName, type UnwrittenAttempts } from './unwritten-attempts.ts'

export interface AttemptDependencies extends MessageDependencies {
  webhooks: WebhookStore
  deliveries: DeliveryStore
  making: MakeAttempt
  unwritten: UnwrittenAttempts
  clock: Clock
}

/** Makes one attempt, writes how it ended and publishes what follows; the same again when it is told twice. */
export type AttemptDelivery = (delivery: WebhookDelivery, progress?: AttemptProgress) => Promise<AttemptEnd>

export function createAttemptDelivery(dependencies: AttemptDependencies): AttemptDelivery {
  const { webhooks, deliveries, making, unwritten, clock } = dependencies
  return async (delivery, progress = {}) => {
    const { isAlone = recordAsks } = progress
    const name = attemptName(delivery)
    const untilMs = clock.now() + claimLeaseMs
    const sent = unwritten.find(name)
    const webhook = await webhooks.find(delivery.project_id, delivery.webhook_id)
    if (webhook === undefined) {
      unwritten.remove(name)
      return decided(drop('webhook_gone'))
    }
    if (sent !== undefined) return making.make({ delivery, webhook, what: sent, untilMs }, progress)
    const what = openOrRefuse(delivery, webhook, isAlone(), dependencies)
    const claim = await deliveries.claim(delivery)
    if (claim.kind === 'gone') return decided(drop('webhook_gone'))
    if (claim.kind === 'superseded') return decided(drop('already_made'))
    if (claim.kind === 'leased') return claim
    if (claim.kind === 'failed_before') {
      await making.failed(delivery, claim)
      return decided(ok())
    }
    return making.make({ delivery, webhook, what, untilMs }, progress)
  }
}
