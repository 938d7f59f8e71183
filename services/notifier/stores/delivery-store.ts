import type pg from 'pg'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

/** What came of asking for the right to make an attempt. */
export type Claim =
  | { kind: 'claimed' }
  /** The delivery is not there: its webhook was deleted. */
  | { kind: 'gone' }
  /** Made already and succeeded, or a later attempt was made. */
  | { kind: 'superseded' }
  /** Made already, the last so far, and failed: what follows may not have been published. */
  | { kind: 'failed_before'; failedAtMs: number; error: string; isLast: boolean }
  /** Another notifier has it until then (Unix milliseconds), unless it died. */
  | { kind: 'leased'; untilMs: number }

/** How an attempt ended. `error` is null when it delivered. */
export interface FinishedAttempt {
  finishedAtMs: number
  statusCode: number | null
  durationMs: number
  error: string | null
  /** The beginning of the answer's body. */
  excerpt: Buffer | null
  /** Nothing follows when it failed. */
  isLast: boolean
}

export interface DeliveryStore {
  /** Writes deliveries that are not there yet. Those whose webhook was deleted meanwhile are left out. */
  insert(deliveries: readonly WebhookDelivery[]): Promise<void>
  /** Asks for the right to make `delivery.attempt`, for `leaseMs`. */
  claim(delivery: WebhookDelivery, leaseMs: number): Promise<Claim>
  /** Writes how the attempt ended and what the delivery is now. A success is never undone by another's failure. */
  finish(delivery: WebhookDelivery, attempt: FinishedAttempt): Promise<void>
}

const insertDeliveries = `
  insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, content_codec,
    content_key_id, content_data, content_id, created_at)
  select d.id, d.webhook_id, d.project_id, d.event_id, d.event, d.event_created_at, d.data, d.content_codec,
    d.content_key_id, d.content_data, d.content_id, now()
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[], $7::bytea[], $8::text[],
    $9::text[], $10::bytea[], $11::text[]) as d (id, webhook_id, project_id, event_id, event, event_created_at, data,
    content_codec, content_key_id, content_data, content_id)
  join webhooks on webhooks.id = d.webhook_id and webhooks.project_id = d.project_id
  on conflict (id) do nothing`

const claimAttempt = `
  with delivery as (select id, status, attempt_count from webhook_deliveries where id = $1),
  claimed as (
    insert into webhook_attempts as attempt (delivery_id, number, lease_until, at)
    select id, $2, clock_timestamp() + $3 * interval '1 millisecond', clock_timestamp()
    from delivery where attempt_count < $2 and (status <> 'delivered' or $4)
    on conflict (delivery_id, number) do update set lease_until = excluded.lease_until, at = excluded.at
      where attempt.finished_at is null and attempt.lease_until < clock_timestamp()
    returning number
  )
  select delivery.status, delivery.attempt_count, exists (select from claimed) as claimed,
    attempt.number is not null as begun, attempt.finished_at,
    attempt.error, coalesce(attempt.lease_until, clock_timestamp() + $3 * interval '1 millisecond') as lease_until
  from delivery left join webhook_attempts attempt on attempt.delivery_id = delivery.id and attempt.number = $2`

const finishAttempt = `
  with attempt as (
    update webhook_attempts set finished_at = $3, status_code = $4, duration_ms = $5, error = $6, response_excerpt = $7
    where delivery_id = $1 and number = $2 and (finished_at is null or $6::text is null)
    returning delivery_id
  )
  update webhook_deliveries delivery
  set attempt_count = greatest(attempt_count, $2), status = $8,
    delivered_at = case when $8 = 'delivered' then $3::timestamptz else delivered_at end
  from attempt where delivery.id = attempt.delivery_id and (attempt_count < $2 or $6::text is null)`

export function createDeliveryStore(pool: pg.Pool): DeliveryStore {
  return {
    async insert(deliveries) {
      if (deliveries.length === 0) return
      const column = <T>(read: (delivery: WebhookDelivery) => T): T[] => deliveries.map(read)
      await query(pool, insertDeliveries, [
        column((delivery) => idToUuid(delivery.delivery_id)),
        column((delivery) => idToUuid(delivery.webhook_id)),
        column((delivery) => idToUuid(delivery.project_id)),
        column(({ event }) => idToUuid(event.id)),
        column(({ event }) => event.event),
        column(({ event }) => new Date(event.created_at)),
        column(({ event }) => event.data),
        column(({ event }) => event.content?.codec ?? null),
        column(({ event }) => event.content?.key_id ?? null),
        column(({ event }) => event.content?.data ?? null),
        column(({ event }) => event.content_id),
      ])
    },
    async claim(delivery, leaseMs) {
      const { rows } = await query<ClaimRow>(pool, claimAttempt, [
        idToUuid(delivery.delivery_id),
        delivery.attempt,
        leaseMs,
        // A replay repeats what was delivered; a retry does not.
        delivery.attempt === delivery.first_attempt,
      ])
      return claimOf(rows[0], delivery.attempt)
    },
    async finish(delivery, attempt) {
      await query(pool, finishAttempt, [
        idToUuid(delivery.delivery_id),
        delivery.attempt,
        new Date(attempt.finishedAtMs),
        attempt.statusCode,
        attempt.durationMs,
        attempt.error,
        attempt.excerpt,
        statusAfter(attempt),
      ])
    },
  }
}

interface ClaimRow {
  status: string
  attempt_count: number
  claimed: boolean
  begun: boolean
  finished_at: Date | null
  error: string | null
  lease_until: Date
}

function claimOf(row: ClaimRow | undefined, attempt: number): Claim {
  if (row === undefined) return { kind: 'gone' }
  if (row.claimed) return { kind: 'claimed' }
  if (row.attempt_count < attempt && (row.begun || row.status !== 'delivered'))
    return { kind: 'leased', untilMs: row.lease_until.getTime() }
  const { finished_at: finishedAt, error } = row
  const isLatest = row.attempt_count === attempt
  // Pending again means that a manual replay has begun another round.
  if (!isLatest || finishedAt === null || error === null || row.status === 'pending')
    return { kind: 'superseded' }
  return { kind: 'failed_before', failedAtMs: finishedAt.getTime(), error, isLast: row.status === 'failed' }
}

function statusAfter(attempt: FinishedAttempt): string {
  if (attempt.error === null) return 'delivered'
  return attempt.isLast ? 'failed' : 'retrying'
}
