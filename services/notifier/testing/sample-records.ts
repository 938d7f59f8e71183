import { newId } from '#schemas/ids.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { deliveryId, type WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { FinishedAttempt } from '../stores/delivery-store.ts'
import type { Webhook } from '../stores/webhook-rows.ts'

/** Records for tests, as they come from elsewhere; what a test is about is given. */
export function raisedEvent(given: Partial<RaisedEvent> & { fields?: object } = {}): RaisedEvent {
  const { fields = { severity: 'critical', scorer_name: 'pii_detection' }, ...rest } = given
  return {
    id: newId('event'),
    event: 'threat_detected',
    project_id: newId('project'),
    created_at: Date.now(),
    data: Buffer.from(JSON.stringify(fields)),
    content: null,
    content_id: null,
    webhook_id: null,
    ...rest,
  }
}

export function webhook(given: Partial<Webhook> = {}): Webhook {
  return {
    id: newId('webhook'),
    projectId: newId('project'),
    url: 'https://receiver.example/hook',
    events: ['threat_detected', 'usage_alert', 'redteam_complete'],
    filters: {},
    filterExpression: null,
    enabled: true,
    disabledReason: null,
    isFailing: false,
    secret: { codec: 'none', key_id: null, data: Buffer.from('whsec_c2VjcmV0') },
    previousSecret: null,
    kind: 'webhook',
    settings: {},
    credentials: null,
    includeText: true,
    maxPerMinute: null,
    version: '1',
    ...given,
  }
}

export function webhookDelivery(given: Partial<WebhookDelivery> = {}): WebhookDelivery {
  const event = given.event ?? raisedEvent()
  const webhookId = given.webhook_id ?? newId('webhook')
  return {
    delivery_id: deliveryId(event, webhookId),
    webhook_id: webhookId,
    project_id: event.project_id,
    attempt: 1,
    first_attempt: 1,
    due_at: 0,
    event,
    last_error: null,
    ...given,
  }
}

/** An attempt that delivered. */
export const deliveredAttempt: FinishedAttempt = {
  finishedAtMs: 0,
  statusCode: 200,
  durationMs: 1,
  error: null,
  excerpt: null,
  isLast: false,
  wasSent: true,
}
