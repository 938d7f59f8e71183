import type { EventName, RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid } from '#schemas/ids.ts'
import { raisedEventOf, type StoredEvent } from '#schemas/stored-event.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

export interface EventForWebhook {
  id: string
  event: EventName
  data: object
  webhookId: string
}

/** Writes an event for one webhook alone; the sink's relay publishes it. */
export async function raiseForWebhook(
  database: ProjectDatabase<OneProject>,
  { id, event, data, webhookId }: EventForWebhook,
  nowMs: number,
): Promise<void> {
  await database.change(
    `insert into event_outbox (id, event, project_id, created_at, data, webhook_id)
     select $2, $3, w.project_id, $4, $5, w.id from webhooks w where :scope(w) and w.id = $6 returning id`,
    [idToUuid(id), event, new Date(nowMs), Buffer.from(JSON.stringify(data)), idToUuid(webhookId)],
    { action: 'webhook.tested', subject: webhookId, detail: { event } },
    nowMs,
  )
}

/** The newest events of the project, without those for one webhook (tests). Kept for a week. */
export async function readRecentEvents(
  database: ProjectDatabase<OneProject>,
  limit: number,
): Promise<RaisedEvent[]> {
  const rows = await database.query<StoredEvent>(
    `select o.* from event_outbox o where :scope(o) and o.webhook_id is null order by o.created_at desc limit $2`,
    [limit],
  )
  return rows.map(raisedEventOf)
}
