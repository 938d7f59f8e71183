import type { Clock } from '#runtime/clock.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { AttemptDelivery } from './attempt-delivery.ts'
import type { CarryOut } from './delivery-handler.ts'
import type { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import { claimLeaseMs, type MakeAttempt } from './make-attempt.ts'
import type { Message } from '../steps/open-message.ts'
import type { OpenSecrets } from '../steps/open-secrets.ts'
import type { SigningKeys } from '../steps/sign-delivery.ts'
import type { DeliveryStore } from '../stores/delivery-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import { attemptName, type UnwrittenAttempts } from './unwritten-attempts.ts'

export interface BeginDependencies {
  deliveries: DeliveryStore
  openSecrets: OpenSecrets
  limiter: EndpointLimiter
  making: MakeAttempt
  attempt: AttemptDelivery
  unwritten: UnwrittenAttempts
  carryOut: CarryOut
  clock: Clock
}

/**
 * What is left to do for a delivery: nothing; it waits for a place at its endpoint, which is slow and has none; or a record has to ask for it,
 * because its endpoint is not known to be slow and has no place soon, somebody else has begun it, or its secret cannot be opened.
 */
export type LeftToDo = 'nothing' | 'wait' | 'ask'

/** Writes a delivery with the claim of its first attempt, and makes that. */
export type BeginDelivery = (
  delivery: WebhookDelivery,
  webhook: Webhook,
  message: Omit<Message, 'keys'>,
) => Promise<LeftToDo>

export function createBeginDelivery(dependencies: BeginDependencies): BeginDelivery {
  const { deliveries, openSecrets, limiter, making, attempt, unwritten, carryOut, clock } = dependencies
  return async (delivery, webhook, message) => {
    // Sent, and not written because Postgres or Kafka was away: a record may be another notifier's, which would send it again.
    if (unwritten.find(attemptName(delivery)) !== undefined) {
      await attempt(delivery)
      return 'nothing'
    }
    const keys = openedOr(webhook, openSecrets)
    if (keys === undefined) return 'ask'
    const release = await limiter.acquireSoon(delivery)
    if (release === undefined) return limiter.kindOf(webhook.id) === 'slow' ? 'wait' : 'ask'
    const untilMs = clock.now() + claimLeaseMs
    let isOurs = false
    try {
      isOurs = await deliveries.begin(delivery, webhook)
    } finally {
      if (!isOurs) release()
    }
    if (!isOurs) return 'ask'
    const claimed = { delivery, webhook, what: { ...message, keys }, untilMs }
    await carryOut(delivery, release, (_delivery, progress) => making.make(claimed, progress))
    return 'nothing'
  }
}

export function openedOr(webhook: Webhook, openSecrets: OpenSecrets): SigningKeys | undefined {
  try {
    return openSecrets(webhook)
  } catch (error) {
    if (error instanceof PermanentError) return undefined
    throw error
  }
}
