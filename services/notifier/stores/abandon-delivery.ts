import type pg from 'pg'
import { idToUuid } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { writeRows } from './write-rows.ts'

/**
 * Ends a delivery as failed, whether its attempt was claimed or not; an attempt that was written keeps what
 * was written of it.
 */
export type AbandonDelivery = (delivery: WebhookDelivery, error: string) => Promise<void>

const abandon = `
  with delivery as (
    update webhook_deliveries set attempt_count = greatest(attempt_count, $2), status = 'failed' where id = $1 and status <> 'delivered'
    returning id
  )
  insert into webhook_attempts as attempt (delivery_id, number, lease_until, at, finished_at, error)
  select id, $2, now(), now(), now(), $3 from delivery
  on conflict (delivery_id, number) do update set finished_at = excluded.finished_at, error = excluded.error
    where attempt.finished_at is null`

export function createAbandonDelivery(pool: pg.Pool): AbandonDelivery {
  return async ({ delivery_id: id, attempt }, error) => {
    await writeRows(pool, abandon, [idToUuid(id), attempt, error])
  }
}
