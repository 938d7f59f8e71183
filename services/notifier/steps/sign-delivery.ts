import { createHmac } from 'node:crypto'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

/** Secrets as shown to their owner: `whsec_` and base64. */
export interface SigningSecrets {
  current: string
  /** Of before a rotation, while its overlap lasts. */
  previous: string | null
}

/**
 * The headers that go with `body`: its signature, what it is, and the three of standard-webhooks. `timestampMs` is the time of
 * the attempt, Unix milliseconds; headers carry seconds.
 */
export function signDelivery(
  delivery: Pick<WebhookDelivery, 'delivery_id' | 'event'>,
  body: Buffer,
  secrets: SigningSecrets,
  timestampMs: number,
): Record<string, string> {
  const timestamp = Math.floor(timestampMs / 1_000).toString()
  const { id, event } = delivery.event
  const known = [secrets.current, ...(secrets.previous === null ? [] : [secrets.previous])]
  return {
    'content-type': 'application/json',
    'user-agent': 'Sluice-Webhooks/1',
    'x-service-event': event,
    'x-service-delivery': delivery.delivery_id,
    'x-service-timestamp': timestamp,
    'x-service-signature': serviceSignature(body, secrets.current),
    ...(secrets.previous === null
      ? {}
      : { 'x-service-signature-previous': serviceSignature(body, secrets.previous) }),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': known.map((secret) => standardSignature(id, timestamp, body, secret)).join(' '),
  }
}

/** Specification 6.3; the key is the secret's text itself. */
function serviceSignature(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** standard-webhooks, version 1: over id, time and body; the key is what the secret's base64 part holds. */
function standardSignature(id: string, timestamp: string, body: Buffer, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}
