import type { EventName, RaisedEvent } from './event-raised.ts'
import { idFromUuid } from './ids.ts'
import { sealedOf } from './sealed-bytes.ts'

/** An event as stored in `event_outbox`, and beside a delivery. */
export interface StoredEvent {
  id: string
  event: EventName
  project_id: string
  created_at: Date
  data: Buffer
  content_codec: string | null
  content_key_id: string | null
  content_data: Buffer | null
  content_id: string | null
  webhook_id: string | null
}

export function raisedEventOf(row: StoredEvent): RaisedEvent {
  return {
    id: idFromUuid('event', row.id),
    event: row.event,
    project_id: idFromUuid('project', row.project_id),
    created_at: row.created_at.getTime(),
    data: row.data,
    content: sealedOf(row.content_codec, row.content_key_id, row.content_data),
    content_id: row.content_id,
    webhook_id: row.webhook_id === null ? null : idFromUuid('webhook', row.webhook_id),
  }
}

/** As stored in `webhook_deliveries`, which has its own `id`, `created_at` and `webhook_id`. */
export type DeliveredEvent = Omit<StoredEvent, 'id' | 'created_at' | 'webhook_id'> & {
  event_id: string
  event_created_at: Date
}

export function deliveredEventOf(row: DeliveredEvent): RaisedEvent {
  return raisedEventOf({ ...row, id: row.event_id, created_at: row.event_created_at, webhook_id: null })
}
