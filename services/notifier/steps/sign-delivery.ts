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
 * The headers that go with `body`: its signature, what it is, and the three of standard-webhooks. `timestampMs` is the time of
 * the attempt, Unix milliseconds; headers carry seconds.
 */
export function signDelivery(
  delivery: Pick<WebhookDelivery, 'delivery_id' | 'event'>,
  body: Buffer,
  keys: SigningKeys,
  timestampMs: number,
): Record<string, string> {
  const timestamp = Math.floor(timestampMs / 1_000).toString()
  const { id, event } = delivery.event
  const known = [keys.current, ...(keys.previous === null ? [] : [keys.previous])]
  return {
    'content-type': 'application/json',
    'user-agent': 'Sluice-Webhooks/1',
    'x-service-event': event,
    'x-service-delivery': delivery.delivery_id,
    'x-service-timestamp': timestamp,
    'x-service-signature': serviceSignature(body, keys.current),
    ...(keys.previous === null
      ? {}
      : { 'x-service-signature-previous': serviceSignature(body, keys.previous) }),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': known.map((key) => standardSignature(id, timestamp, body, key)).join(' '),
  }
}

function serviceSignature(body: Buffer, { service }: SigningKey): string {
  return `sha256=${createHmac('sha256', service).update(body).digest('hex')}`
}

/** Version 1: over id, time and body. */
function standardSignature(id: string, timestamp: string, body: Buffer, { standard }: SigningKey): string {
  return `v1,${createHmac('sha256', standard).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}
