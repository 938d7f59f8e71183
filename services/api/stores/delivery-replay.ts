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
 * The delivery is abandoned: its record became a dropped dead letter, expired while no notifier ran, or was
 * lost with Kafka. If it arrives after all, the extra round is harmless, because an attempt is claimed once
 * (services/notifier). A delivery that waits for its endpoint has a row instead. Both are subqueries with a
 * value: Postgres may answer `not exists` by reading a whole table.
 */
const isLeft = `(d.created_at < now() - interval '1 hour'
  and coalesce((select max(a.at) from webhook_attempts a where a.delivery_id = d.id) <= now() - interval '1 hour', true)
  and (select count(*) from webhook_waiting w where w.delivery_id = d.id) = 0)`

/** It has ended, or is abandoned. */
export const mayBeReplayed = `(d.status in ('failed', 'delivered') or ${isLeft})`

interface ReplayPlan {
  /** The next rounds of the deliveries that have ended or are abandoned. */
  rounds: WebhookDelivery[]
  /** Deliveries in progress, with their status. A delivery that is in neither is unknown. */
  underWay: ReadonlyMap<string, string>
}

/** Plans a replay of selected deliveries of the webhook, in order of creation. */
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
  /** The range of the deliveries' creation in Unix milliseconds: from the start, before the end. */
  startMs: number
  endMs: number
  /** The position after which to continue. */
  after: ReplayPosition | null
  limit: number
}

export interface ReplayPage {
  rounds: WebhookDelivery[]
  /** The position after which to continue; null: the range is finished. */
  next: ReplayPosition | null
}

/**
 * Deliveries that a page looks at. Pending ones have no index, which would cost each delivery its in-place
 * update (infra/migrations/0005), so the log is scanned. Twice as many of one webhook's 600,000 took 0.2 s on
 * two busy cores (4,000 pages). Spread over a page each, they take 5 s at 0.5 ms a page; a statement has 15
 * s.
 */
const maxLookedAt = 10_000

/**
 * The next rounds of the webhook's failed or abandoned deliveries in a time range, oldest first. A page that
 * found few among `maxLookedAt` has a `next` too.
 */
export async function planFailedReplays(
  database: ProjectDatabase<OneProject>,
  webhookId: string,
  { startMs, endMs, after, limit }: FailedRange,
  nowMs: number,
): Promise<ReplayPage> {
  // The last one looked at is always among the rows.
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

/** Marks queued rounds as under way, except those whose first attempt was made meanwhile. */
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
