import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

/** The keys of one secret. */
export interface SigningKey {
  /** Specification 6.3: the secret's text itself. */
  service: KeyObject
  /** standard-webhooks: what the secret's base64 part holds. */
  standard: KeyObject
}

export interface SigningKeys {
  current: SigningKey
  /** Of before a rotation, while its overlap lasts. */
  previous: SigningKey | null
}

/** `secret` as it is shown to its owner: `whsec_` and base64. */
export function signingKeyOf(secret: string): SigningKey {
  return {
    service: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(secret.replace(/^whsec_/, ''), 'base64'),
  }
}

/**
 * The headers that go with `body`: its signature, what it is, and the three of standard-webhooks.
 * `timestampMs` is the time of the attempt, Unix milliseconds; headers carry seconds.
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

/** Version 1: over id, time and body. */
function standardSignature(id: string, timestamp: string, body: Buffer, { standard }: SigningKey): string {
  return `v1,${createHmac('sha256', standard).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}
