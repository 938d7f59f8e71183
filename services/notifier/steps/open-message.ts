import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { InvalidEventData, joinEvent, type JoinedData } from '#schemas/join-event.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import type { OpenSecrets } from './open-secrets.ts'
import type { SigningKeys } from './sign-delivery.ts'

/** The whole `data` of an event. Throws PermanentError if it cannot be opened or is no JSON object. */
export type JoinEvent = (event: RaisedEvent) => JoinedData

export function createJoinEvent(sealer: Sealer): JoinEvent {
  return (event) => {
    try {
      return joinEvent(event, sealer)
    } catch (error) {
      if (!(error instanceof InvalidEventData)) throw error
      throw new PermanentError('EVENT_DATA_INVALID', error.message, { cause: error })
    }
  }
}

/**
 * The body of a delivery (specification 6.2): the same bytes, and so the same signature, at every attempt.
 */
export function buildEnvelope(event: RaisedEvent, data: JoinedData): Buffer {
  const head = JSON.stringify({
    event: event.event,
    id: event.id,
    created_at: new Date(event.created_at).toISOString(),
    project_id: event.project_id,
  })
  return Buffer.from(`${head.slice(0, -1)},"data":${data.json()}}`)
}

export function isTestEvent({ fields }: JoinedData): boolean {
  return fields['test'] === true
}

/** What an attempt sends, and how it is signed. */
export interface Message {
  body: Buffer
  keys: SigningKeys
  isTest: boolean
  /** For destinations, which write the event in their own format. */
  data?: JoinedData
}

/**
 * Opens a message before the claim: what fails for good then leaves no claimed attempt. With a record it
 * throws, and the record becomes a dead letter; an attempt alone (`isAlone`) fails with the error instead.
 */
export function openOrRefuse(
  { event }: Pick<WebhookDelivery, 'event'>,
  webhook: Webhook,
  isAlone: boolean,
  parts: { openSecrets: OpenSecrets; joinEvent: JoinEvent },
): Message | PermanentError {
  try {
    const data = parts.joinEvent(event)
    const message = {
      body: buildEnvelope(event, data),
      keys: parts.openSecrets(webhook),
      isTest: isTestEvent(data),
    }
    return webhook.kind === 'webhook' ? message : { ...message, data }
  } catch (error) {
    if (isAlone && error instanceof PermanentError) return error
    throw error
  }
}
