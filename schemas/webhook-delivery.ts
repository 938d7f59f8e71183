import { eventRaisedAvro, type RaisedEvent } from './event-raised.ts'
import { hashedId, idTimeMs } from './ids.ts'

/** One attempt that is due, or that failed for good (`webhook.delivery.dead`). */
export interface WebhookDelivery {
  /** `dlv_…`, derived from event and webhook. */
  delivery_id: string
  webhook_id: string
  project_id: string
  /** 1 to 4. A manual replay starts a new round after earlier attempts: 5, 9 … */
  attempt: number
  /** First attempt of this round: 1, or a replay's. Retries go on to `first_attempt` + 3. */
  first_attempt: number
  /** Earliest time to send, Unix milliseconds. */
  due_at: number
  event: RaisedEvent
  /** The error of the last attempt; null before the first. */
  last_error: string | null
}

/** The delivery of an event to a webhook. Derived, so a repetition makes no second one. */
export function deliveryId(event: Pick<RaisedEvent, 'id' | 'project_id'>, webhookId: string): string {
  return hashedId('delivery', idTimeMs(event.id), [event.project_id, event.id, webhookId])
}

export const webhookDeliveryAvro = {
  type: 'record',
  name: 'WebhookDelivery',
  namespace: 'sluice',
  fields: [
    { name: 'delivery_id', type: 'string' },
    { name: 'webhook_id', type: 'string' },
    { name: 'project_id', type: 'string' },
    { name: 'attempt', type: 'int' },
    { name: 'first_attempt', type: 'int' },
    { name: 'due_at', type: 'long' },
    { name: 'event', type: eventRaisedAvro },
    { name: 'last_error', type: ['null', 'string'], default: null },
  ],
} as const
