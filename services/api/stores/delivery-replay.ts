import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { deliveredEventOf, type DeliveredEvent } from '#schemas/stored-event.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { ReplayPlace } from '../http/replay-cursor.ts'
import type { DeliveryStatus } from './delivery-store.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

interface EventRow extends DeliveredEvent {
  id: string
  attempt_count: number
}

const columns = `d.id, d.project_id, d.event_id, d.event, d.event_created_at, d.data, d.content_codec, d.content_key_id, d.content_data,
  d.content_id, d.attempt_count`

/**
 * Nobody attempts the delivery any more, though it has not ended: its record became a dead letter that was dropped, or aged out while no notifier
 * ran. It may still wait behind others; a round more does no harm then, because an attempt is claimed once (services/notifier). The last attempt is
 * asked for as a value: `not exists` Postgres may answer by reading all attempts of all deliveries.
 */
const isLeft = `(d.created_at < now() - interval '1 hour' and coalesce(
  (select max(a.at) from webhook_attempts a where a.delivery_id = d.id) <= now() - interval '1 hour', true))`

interface ReplayPlan {
  /** The next rounds of the deliveries that have ended, or that nobody has attempted for an hour. */
  rounds: WebhookDelivery[]
  /** Those whose attempts go on, with their status. A delivery that is in neither is not known. */
  underWay: ReadonlyMap<string, string>
}

/** What would be delivered again of chosen deliveries of the webhook, in the order of their creation. */
export async function planReplays(
  database: ProjectDatabase<OneProject>,
  webhookId: string,
  deliveryIds: readonly string[],
  nowMs: number,
): Promise<ReplayPlan> {
  const rows = await database.query<EventRow & { status: DeliveryStatus; may_go: boolean }>(
    `select ${columns}, d.status, d.status in ('failed', 'delivered') or ${isLeft} as may_go from webhook_deliveries d
     where :scope(d) and d.webhook_id = $2 and d.id = any($3::uuid[]) order by d.created_at, d.id`,
    [idToUuid(webhookId), deliveryIds.map(idToUuid)],
  )
  const [may, mayNot] = [rows.filter((row) => row.may_go), rows.filter((row) => !row.may_go)]
  return {
    rounds: may.map((row) => roundOf(row, database.scope.projectId, webhookId, nowMs)),
    underWay: new Map(mayNot.map(({ id, status }) => [idFromUuid('delivery', id), status])),
  }
}

export interface FailedRange {
  /** Of the deliveries' creation, Unix milliseconds: from the start on and before the end. */
  startMs: number
  endMs: number
  /** Behind which to go on. */
  after: ReplayPlace | null
  limit: number
}

export interface PlacedRound {
  round: WebhookDelivery
  place: ReplayPlace
}

/**
 * The next rounds of the webhook's deliveries of a time range that have failed, oldest first, those included whose retries stopped coming. What is
 * pending has no index (infra/migrations/0033): a range of millions would be read whole for it.
 */
export async function planFailedReplays(
  database: ProjectDatabase<OneProject>,
  webhookId: string,
  { startMs, endMs, after, limit }: FailedRange,
  nowMs: number,
): Promise<PlacedRound[]> {
  const rows = await database.query<EventRow & { micros: string }>(
    `select ${columns}, (extract(epoch from d.created_at) * 1000000)::bigint as micros from webhook_deliveries d
     where :scope(d) and d.webhook_id = $2 and d.has_failed and (d.status = 'failed' or ${isLeft}) and d.created_at >= $3 and d.created_at < $4
       and ($5::bigint is null or (d.created_at, d.id) > ('epoch'::timestamptz + $5 * interval '1 microsecond', $6::uuid))
     order by d.created_at, d.id limit $7`,
    [
      idToUuid(webhookId),
      new Date(startMs),
      new Date(endMs),
      after?.createdAtMicros ?? null,
      after === null ? null : idToUuid(after.deliveryId),
      limit,
    ],
  )
  return rows.map((row) => {
    const round = roundOf(row, database.scope.projectId, webhookId, nowMs)
    return { round, place: { createdAtMicros: row.micros, deliveryId: round.delivery_id } }
  })
}

/** Shows that queued rounds are under way, except those whose first attempt has been made meanwhile. */
export async function noteReplays(
  database: ProjectDatabase<OneProject>,
  rounds: readonly WebhookDelivery[],
): Promise<void> {
  await database.query(
    `update webhook_deliveries d set status = 'pending', delivered_at = null
     from unnest($2::uuid[], $3::int[]) as round (id, made)
     where :scope(d) and d.id = round.id and d.attempt_count = round.made`,
    [rounds.map(({ delivery_id: id }) => idToUuid(id)), rounds.map(({ attempt }) => attempt - 1)],
  )
}

function roundOf(row: EventRow, projectId: string, webhookId: string, nowMs: number): WebhookDelivery {
  const attempt = row.attempt_count + 1
  return {
    delivery_id: idFromUuid('delivery', row.id),
    webhook_id: webhookId,
    project_id: projectId,
    attempt,
    first_attempt: attempt,
    due_at: nowMs,
    event: deliveredEventOf(row),
    last_error: null,
  }
}
