import type { EventName } from '#schemas/event-raised.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { SealedBytes } from '#schemas/sealed-bytes.ts'
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
  await database.change(
    `insert into event_outbox (id, event, project_id, created_at, data, webhook_id)
     select $2, $3, w.project_id, $4, $5, w.id from webhooks w where :scope(w) and w.id = $6 returning id`,
    [idToUuid(id), event, new Date(nowMs), Buffer.from(JSON.stringify(data)), idToUuid(webhookId)],
    { action: 'webhook.tested', subject: webhookId, detail: { event } },
    nowMs,
  )
}

/** An event as it was raised; its content is sealed still. */
export interface RecentEvent {
  id: string
  event: EventName
  project_id: string
  created_at: string
  data: Buffer
  content: SealedBytes | null
  content_id: string | null
}

interface RecentRow {
  id: string
  event: EventName
  project_id: string
  created_at: Date
  data: Buffer
  content_codec: string | null
  content_key_id: string | null
  content_data: Buffer | null
  content_id: string | null
}

/** The newest events of the project, without those meant for one webhook (tests). Kept for a week. */
export async function readRecentEvents(
  database: ProjectDatabase<OneProject>,
  limit: number,
): Promise<RecentEvent[]> {
  const rows = await database.query<RecentRow>(
    `select o.id, o.event, o.project_id, o.created_at, o.data, o.content_codec, o.content_key_id, o.content_data, o.content_id
     from event_outbox o where :scope(o) and o.webhook_id is null order by o.created_at desc limit $2`,
    [limit],
  )
  return rows.map((row) => ({
    id: idFromUuid('event', row.id),
    event: row.event,
    project_id: idFromUuid('project', row.project_id),
    created_at: row.created_at.toISOString(),
    data: row.data,
    content:
      row.content_codec === null || row.content_data === null
        ? null
        : { codec: row.content_codec, key_id: row.content_key_id, data: row.content_data },
    content_id: row.content_id,
  }))
}
