import { PermanentError } from '#runtime/errors.ts'
import type { JoinedData } from '#schemas/join-event.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import { buildEnvelope } from './build-envelope.ts'
import type { JoinEvent } from './open-event.ts'
import type { OpenSecrets } from './open-secrets.ts'
import type { SigningKeys } from './sign-delivery.ts'

/** What an attempt sends, and how it is signed. */
export interface Message {
  body: Buffer
  keys: SigningKeys
  isTest: boolean
}

export interface MessageDependencies {
  openSecrets: OpenSecrets
  joinEvent: JoinEvent
}

/** Everything that can fail for good comes before the claim, so that no attempt is left open by it. */
function openMessage(
  { event }: Pick<WebhookDelivery, 'event'>,
  webhook: Webhook,
  { openSecrets, joinEvent }: MessageDependencies,
): Message {
  const data = joinEvent(event)
  return { body: buildEnvelope(event, data), keys: openSecrets(webhook), isTest: isTestEvent(data) }
}

export function isTestEvent({ fields }: JoinedData): boolean {
  return fields['test'] === true
}

/**
 * With a record, what cannot be opened is a dead letter; without one it would come again for ever, and is the
 * attempt's failure.
 */
export function openOrRefuse(
  delivery: WebhookDelivery,
  webhook: Webhook,
  isAlone: boolean,
  dependencies: MessageDependencies,
): Message | PermanentError {
  try {
    return openMessage(delivery, webhook, dependencies)
  } catch (error) {
    if (isAlone && error instanceof PermanentError) return error
    throw error
  }
}
