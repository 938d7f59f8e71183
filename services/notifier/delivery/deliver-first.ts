import { PermanentError } from '#runtime/errors.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { JoinedData } from '#schemas/join-event.ts'
import { deliveryId, type WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { buildEnvelope, isTestEvent, type Message } from '../steps/open-message.ts'
import type { OpenSecrets } from '../steps/open-secrets.ts'
import type { Decision } from '../steps/select-webhooks.ts'
import type { SigningKeys } from '../steps/sign-delivery.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { Asker, Attempt, Parts } from './attempt.ts'
import type { AttemptDue } from './attempt-due.ts'
import { beginOne, type BeginDeliveries } from './begin-deliveries.ts'
import type { HandOver } from './hand-over.ts'
import { attemptName } from './unwritten-attempts.ts'

/** A delivery of an event, not yet written. */
export interface FirstDelivery {
  delivery: WebhookDelivery
  webhook: Webhook
  message: Omit<Message, 'keys'>
}

/** The first deliveries of an event, one for each selected webhook. */
export function firstDeliveries(
  event: RaisedEvent,
  data: JoinedData,
  decided: readonly Pick<Decision, 'webhook' | 'selection'>[],
): FirstDelivery[] {
  const selected = decided.filter(({ selection }) => selection === 'selected')
  if (selected.length === 0) return []
  const message = { body: buildEnvelope(event, data), isTest: isTestEvent(data) }
  return selected.map(({ webhook }) => ({
    delivery: firstAttempt(event, webhook.id),
    webhook,
    message: webhook.kind === 'webhook' ? message : { ...message, data },
  }))
}

export function firstAttempt(event: RaisedEvent, webhookId: string): WebhookDelivery {
  return {
    delivery_id: deliveryId(event, webhookId),
    webhook_id: webhookId,
    project_id: event.project_id,
    attempt: 1,
    first_attempt: 1,
    due_at: event.created_at,
    event,
    last_error: null,
  }
}

export interface DeliverFirstDependencies extends Pick<Parts, 'openSecrets' | 'limiter' | 'unwritten'> {
  begin: BeginDeliveries
  attemptDue: AttemptDue
  handOver: HandOver
  asker: Asker
}

export type DeliverFirst = ReturnType<typeof createDeliverFirst>

export function createDeliverFirst(dependencies: DeliverFirstDependencies) {
  const { openSecrets, limiter, begin, attemptDue, unwritten, handOver, asker } = dependencies
  const wasSent = ({ delivery }: FirstDelivery) => unwritten.find(attemptName(delivery)) !== undefined
  return {
    /**
     * Acquires permits for all deliveries of an event, or none and returns undefined if one needs `deliver`.
     */
    acquireAll: (firsts: readonly FirstDelivery[]): Attempt[] | undefined => {
      // All keys before the first permit: an error here leaves no permit behind.
      const allKeys = firsts.map((first) => (wasSent(first) ? undefined : keysOf(first.webhook, openSecrets)))
      const attempts: Attempt[] = []
      for (const [index, first] of firsts.entries()) {
        const keys = allKeys[index]
        const release = keys && limiter.acquireNow(first.delivery)
        if (keys === undefined || release === undefined) {
          for (const attempt of attempts) attempt.release()
          return undefined
        }
        attempts.push(attemptOf(first, keys, release))
      }
      return attempts
    },
    /** Makes the first attempt of one delivery, waiting a moment for its permit, or hands it over. */
    deliver: async (first: FirstDelivery): Promise<void> => {
      const { delivery, webhook } = first
      // Its limit a minute and its order are looked at when it is taken from there.
      if (webhook.kind !== 'webhook') return handOver.wait(delivery)
      // Sent, but not stored while Postgres or Kafka was away. Another notifier would send it again.
      if (wasSent(first)) {
        await attemptDue(delivery, () => undefined, asker)
        return
      }
      const keys = keysOf(webhook, openSecrets)
      // Its record becomes a dead letter, and the event reaches its other webhooks.
      if (keys === undefined) return handOver.publish(delivery)
      const release = await limiter.acquireSoon(delivery)
      if (release === undefined) {
        const isSlow = limiter.kindOf(webhook.id) === 'slow'
        return isSlow ? handOver.wait(delivery) : handOver.publish(delivery)
      }
      const end = await beginOne(begin, attemptOf(first, keys, release))
      if (Error.isError(end)) throw end
      if (end === 'not_ours') await handOver.publish(delivery)
    },
  }
}

function attemptOf(
  { delivery, webhook, message }: FirstDelivery,
  keys: SigningKeys,
  release: Attempt['release'],
): Attempt {
  return { delivery, webhook, what: { ...message, keys }, release }
}

/** Undefined: the secret cannot be opened. */
function keysOf(webhook: Webhook, openSecrets: OpenSecrets): SigningKeys | undefined {
  try {
    return openSecrets(webhook)
  } catch (error) {
    if (error instanceof PermanentError) return undefined
    throw error
  }
}
