import { eventRaisedAvro, type RaisedEvent } from './event-raised.ts'

/** One attempt that is due, or that failed for good (`webhook.delivery.dead`). */
export interface WebhookDelivery {
  /** `dlv_…`, derived from event and webhook. */
  delivery_id: string
  webhook_id: string
  project_id: string
  /** 1 to 4; a manual replay starts a new round after the attempts that were made: 5, 9 … */
  attempt: number
  /** First attempt of this round: 1, or a replay's. Retries go on to `first_attempt` + 3. */
  first_attempt: number
  /** Unix milliseconds before which it is not sent. */
  due_at: number
  event: RaisedEvent
  /** What the last attempt failed with; null before the first. */
  last_error: string | null
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
