import type { EventName, RaisedEvent } from '#schemas/event-raised.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

interface EventRow {
  event_id: string
  event: EventName
  event_created_at: Date
  data: Buffer
  content_codec: string | null
  content_key_id: string | null
  content_data: Buffer | null
  content_id: string | null
  attempt_count: number
}

/** The next round of a delivery that has ended; undefined when it has not, or there is none. */
export async function planReplay(
  database: ProjectDatabase<OneProject>,
  webhookId: string,
  deliveryId: string,
  nowMs: number,
): Promise<WebhookDelivery | undefined> {
  const [row] = await database.query<EventRow>(
    `select d.event_id, d.event, d.event_created_at, d.data, d.content_codec, d.content_key_id, d.content_data,
       d.content_id, d.attempt_count
     from webhook_deliveries d
     where :scope(d) and d.webhook_id = $2 and d.id = $3 and d.status in ('failed', 'delivered')`,
    [idToUuid(webhookId), idToUuid(deliveryId)],
  )
  if (row === undefined) return undefined
  const { projectId } = database.scope
  const attempt = row.attempt_count + 1
  return {
    delivery_id: deliveryId,
    webhook_id: webhookId,
    project_id: projectId,
    attempt,
    first_attempt: attempt,
    due_at: nowMs,
    event: eventOf(row, projectId),
    last_error: null,
  }
}

/** Shows that a queued round is under way, unless its first attempt has been made meanwhile. */
export async function noteReplay(
  database: ProjectDatabase<OneProject>,
  { delivery_id, attempt }: WebhookDelivery,
): Promise<void> {
  await database.query(
    `update webhook_deliveries d set status = 'pending', delivered_at = null
     where :scope(d) and d.id = $2 and d.attempt_count = $3 and d.status in ('failed', 'delivered')`,
    [idToUuid(delivery_id), attempt - 1],
  )
}

function eventOf(row: EventRow, projectId: string): RaisedEvent {
  return {
    id: idFromUuid('event', row.event_id),
    event: row.event,
    project_id: projectId,
    created_at: row.event_created_at.getTime(),
    data: row.data,
    content:
      row.content_codec === null || row.content_data === null
        ? null
        : { codec: row.content_codec, key_id: row.content_key_id, data: row.content_data },
    content_id: row.content_id,
    webhook_id: null,
  }
}
