import type { Pool } from 'pg'
import { hashedId, idToUuid, newId } from '#schemas/ids.ts'

/** A failed delivery of a webhook. Returns its id. */
export async function seedDelivery(pool: Pool, webhookId: string, projectId: string): Promise<string> {
  const deliveryId = hashedId('delivery', Date.now(), ['x'])
  await pool.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, created_at)
     values ($1, $2, $3, gen_random_uuid(), 'threat_detected', now(), '{}', 'failed', now())`,
    [deliveryId, webhookId, projectId].map(idToUuid),
  )
  return deliveryId
}

/** A dead letter. Returns its id. */
export async function seedDeadLetter(pool: Pool): Promise<string> {
  const id = newId('deadLetter')
  await pool.query(
    `insert into dead_letters (id, cluster, topic, partition, "offset", code, message, dead_at) values ($1, 'c', 't', 0, 0, 'CRASHED', 'x', now())`,
    [idToUuid(id)],
  )
  return id
}
