import type { EventName } from '#schemas/event-raised.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

export interface EventForWebhook {
  id: string
  event: EventName
  data: object
  webhookId: string
}

/** Writes an event that only one webhook gets; the sink's relay publishes it. */
export async function raiseForWebhook(
  database: ProjectDatabase<OneProject>,
  { id, event, data, webhookId }: EventForWebhook,
  nowMs: number,
): Promise<void> {
  await database.query(
    `insert into event_outbox (id, event, project_id, created_at, data, webhook_id)
     select $2, $3, w.project_id, $4, $5, w.id from webhooks w where :scope(w) and w.id = $6`,
    [idToUuid(id), event, new Date(nowMs), Buffer.from(JSON.stringify(data)), idToUuid(webhookId)],
  )
}
