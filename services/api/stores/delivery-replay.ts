import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { deliveredEventOf, type DeliveredEvent } from '#schemas/stored-event.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { ReplayPosition } from '../http/replay-cursor.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

interface EventRow extends DeliveredEvent {
  id: string
  attempt_count: number
}

const columns = `d.id, d.project_id, d.event_id, d.event, d.event_created_at, d.data, d.content_codec, d.content_key_id, d.content_data,
  d.content_id, d.attempt_count`

/**
 * Nobody attempts the delivery any more, though it has not ended: its record became a dead letter that was dropped, aged out while no notifier
 * ran, or was lost with Kafka. Should it come all the same, a round more does no harm: an attempt is claimed once (services/notifier). What waits
 * for its endpoint has a row instead of a record. Both are asked for as values: `not exists` Postgres may answer by reading all of a table.
 */
const isLeft = `(d.created_at < now() - interval '1 hour'
  and coalesce((select max(a.at) from webhook_attempts a where a.delivery_id = d.id) <= now() - interval '1 hour', true)
  and (select count(*) from webhook_waiting w where w.delivery_id = d.id) = 0)`

/** It has ended, or nobody attempts it any more. */
export const mayBeReplayed = `(d.status in ('failed', 'delivered') or ${isLeft})`

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
  const rows = await database.query<EventRow & { status: string; may_go: boolean }>(
    `select ${columns}, d.status, ${mayBeReplayed} as may_go from webhook_deliveries d
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
  after: ReplayPosition | null
  limit: number
}

export interface ReplayPage {
  rounds: WebhookDelivery[]
  /** Behind which to go on; null: nothing is left of the range. */
  next: ReplayPosition | null
}

/**
 * How much of the log a page looks at. What is pending has no index, which would cost each delivery its update in place (infra/migrations/0005), so
 * the log is walked: twice as many of one webhook's 600,000 took 0.2 s on two busy cores, 4,000 pages of the table. Between those of other
 * webhooks each lies on its own page: 5 s of a disk that takes 0.5 ms for one, and a statement has 15 s.
 */
const maxLookedAt = 10_000

/**
 * The next rounds of the webhook's deliveries of a time range that have failed or that nobody has attempted for an hour, oldest first. A page that
 * found few or none among `maxLookedAt` has a `next` all the same.
 */
export async function planFailedReplays(
  database: ProjectDatabase<OneProject>,
  webhookId: string,
  { startMs, endMs, after, limit }: FailedRange,
  nowMs: number,
): Promise<ReplayPage> {
  // The last one looked at is among the rows, whatever became of it.
  const rows = await database.query<EventRow & { micros: string; may_go: boolean; is_edge: boolean }>(
    `select ${columns}, (extract(epoch from d.created_at) * 1000000)::bigint as micros, d.may_go, d.place = $8 as is_edge from (
       select d.*, d.status = 'failed' or d.status <> 'delivered' and ${isLeft} as may_go,
         row_number() over (order by d.created_at, d.id) as place
       from webhook_deliveries d
       where :scope(d) and d.webhook_id = $2 and d.created_at >= $3 and d.created_at < $4
         and ($5::bigint is null or (d.created_at, d.id) > ('epoch'::timestamptz + $5 * interval '1 microsecond', $6::uuid))
       order by d.created_at, d.id limit $8
     ) d where d.may_go or d.place = $8 order by d.created_at, d.id limit $7`,
    [
      idToUuid(webhookId),
      new Date(startMs),
      new Date(endMs),
      after?.createdAtMicros ?? null,
      after === null ? null : idToUuid(after.deliveryId),
      limit + 1,
      maxLookedAt,
    ],
  )
  const page = rows.filter((row) => row.may_go).slice(0, limit)
  const more = rows.length > limit ? page.at(-1) : rows.find((row) => row.is_edge)
  return {
    rounds: page.map((row) => roundOf(row, database.scope.projectId, webhookId, nowMs)),
    next:
      more === undefined
        ? null
        : { createdAtMicros: more.micros, deliveryId: idFromUuid('delivery', more.id) },
  }
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
