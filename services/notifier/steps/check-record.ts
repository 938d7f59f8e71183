import { PermanentError } from '#runtime/errors.ts'
import { eventNames, type RaisedEvent } from '#schemas/event-raised.ts'
import { idPrefixes, isId, type IdKind } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

/** The last millisecond that a Date can hold. */
const latestMs = 8.64e15

/** Why an event can never be delivered; undefined if it can. */
export function checkEvent(event: RaisedEvent): PermanentError | undefined {
  const { webhook_id: webhookId, created_at: createdAt } = event
  const unidentified =
    checkId('project', 'project_id', event.project_id) ??
    checkId('event', 'id', event.id) ??
    (webhookId === null ? undefined : checkId('webhook', 'webhook_id', webhookId))
  if (unidentified !== undefined) return unidentified
  if (!eventNames.includes(event.event)) return invalid('event', 'is not the name of one')
  if (createdAt < 0 || createdAt > latestMs) return invalid('created_at', 'is not a time')
  if (event.content_id?.includes('\0') === true) return invalid('content_id', 'holds a NUL')
  return undefined
}

/** The same for a delivery. */
export function checkDelivery(delivery: WebhookDelivery): PermanentError | undefined {
  return (
    checkId('delivery', 'delivery_id', delivery.delivery_id) ??
    checkId('webhook', 'webhook_id', delivery.webhook_id) ??
    checkId('project', 'project_id', delivery.project_id) ??
    checkEvent(delivery.event)
  )
}

function checkId(kind: IdKind, field: string, value: string): PermanentError | undefined {
  if (isId(kind, value)) return undefined
  const shown = JSON.stringify(value.slice(0, 40))
  return new PermanentError(
    'INVALID_IDENTIFIER',
    `${field} ${shown} is not an identifier that starts with ${idPrefixes[kind]}_`,
  )
}

function invalid(field: string, problem: string): PermanentError {
  return new PermanentError('EVENT_DATA_INVALID', `${field} of the event ${problem}`)
}
