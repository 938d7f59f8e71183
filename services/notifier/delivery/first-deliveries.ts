import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { JoinedData } from '#schemas/join-event.ts'
import { deliveryId, type WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { buildEnvelope } from '../steps/build-envelope.ts'
import { isTestEvent, type Message } from '../steps/open-message.ts'
import type { Decision } from '../steps/select-webhooks.ts'
import type { Webhook } from '../stores/webhook-rows.ts'

/** A delivery of an event, not yet written. */
export interface FirstDelivery {
  delivery: WebhookDelivery
  webhook: Webhook
  message: Omit<Message, 'keys'>
}

/** The first deliveries of an event, one for each webhook that was selected. */
export function firstDeliveries(
  event: RaisedEvent,
  data: JoinedData,
  decided: readonly Pick<Decision, 'webhook' | 'selection'>[],
): FirstDelivery[] {
  const selected = decided.filter(({ selection }) => selection === 'selected')
  if (selected.length === 0) return []
  const message = { body: buildEnvelope(event, data), isTest: isTestEvent(data) }
  return selected.map(({ webhook }) => ({ delivery: firstAttempt(event, webhook.id), webhook, message }))
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
