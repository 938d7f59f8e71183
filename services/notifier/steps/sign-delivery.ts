import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

/** The keys of one secret. */
export interface SigningKey {
  /** Specification 6.3: the secret's text. */
  service: KeyObject
  /** standard-webhooks: the secret's base64 part, decoded. */
  standard: KeyObject
}

export interface SigningKeys {
  current: SigningKey
  /** The key before a rotation, during its overlap. */
  previous: SigningKey | null
}

/** `secret` as shown to its owner: `whsec_` and base64. */
export function signingKeyOf(secret: string): SigningKey {
  return {
    service: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(secret.replace(/^whsec_/, ''), 'base64'),
  }
}

/**
 * The headers of a delivery, with those of standard-webhooks. `timestampMs`: the attempt, Unix milliseconds.
 */
export function signDelivery(
  delivery: Pick<WebhookDelivery, 'delivery_id' | 'event'>,
  body: Buffer,
  keys: SigningKeys,
  timestampMs: number,
): Record<string, string> {
  const timestamp = Math.floor(timestampMs / 1_000).toString()
  const { id, event } = delivery.event
  const { current, previous } = keys
  const ownSignature = standardSignature(id, timestamp, body, current)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': 'Sluice-Webhooks/1',
    'x-service-event': event,
    'x-service-delivery': delivery.delivery_id,
    'x-service-timestamp': timestamp,
    'x-service-signature': serviceSignature(body, current),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': ownSignature,
  }
  if (previous !== null) {
    headers['x-service-signature-previous'] = serviceSignature(body, previous)
    headers['webhook-signature'] = `${ownSignature} ${standardSignature(id, timestamp, body, previous)}`
  }
  return headers
}

function serviceSignature(body: Buffer, { service }: SigningKey): string {
  return `sha256=${createHmac('sha256', service).update(body).digest('hex')}`
}

/** Version 1: signs id, time and body. */
function standardSignature(id: string, timestamp: string, body: Buffer, { standard }: SigningKey): string {
  return `v1,${createHmac('sha256', standard).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}
