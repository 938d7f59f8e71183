import type pg from 'pg'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { gatherCalls } from './gather-calls.ts'

/** What came of asking for the right to make an attempt. */
export type Claim =
  | { kind: 'claimed' }
  /** The delivery is not there: its webhook was deleted, or what it is about was erased. */
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
  /** False: there was no request, because the webhook is disabled. */
  wasSent: boolean
}

export interface DeliveryStore {
  /** Writes deliveries that are not there yet. Those whose webhook was deleted meanwhile, or whose request was erased, are left out. */
  insert(deliveries: readonly WebhookDelivery[]): Promise<void>
  /** Asks for the right to make `delivery.attempt`, for as long as the store's lease. */
  claim(delivery: WebhookDelivery): Promise<Claim>
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
  where not exists (select from erased_requests x where x.project_id = d.project_id and x.request =
    coalesce(d.content_id, substring(convert_from(d.data, 'UTF8') from '"request_id":"(req_[0-9a-z]{26})"')))
  on conflict (id) do nothing`

// Rows are locked in the order of their keys, so that two notifiers that claim the same ones wait instead of deadlocking.
const claimAttempts = `
  with asked as (
    select asked.*, delivery.id is not null as is_there, delivery.status, delivery.attempt_count
    from unnest($1::uuid[], $2::int[], $3::bool[]) with ordinality as asked (id, number, opens_round, place)
    left join webhook_deliveries delivery on delivery.id = asked.id
  ),
  claimed as (
    insert into webhook_attempts as attempt (delivery_id, number, lease_until, at)
    select id, number, clock_timestamp() + $4 * interval '1 millisecond', clock_timestamp()
    from asked where is_there and attempt_count < number and (status <> 'delivered' or opens_round)
    order by id, number
    on conflict (delivery_id, number) do update set lease_until = excluded.lease_until, at = excluded.at
      where attempt.finished_at is null and attempt.lease_until < clock_timestamp()
    returning delivery_id, number
  )
  select asked.is_there, asked.status, asked.attempt_count, claimed.number is not null as claimed,
    attempt.number is not null as begun, attempt.finished_at,
    attempt.error, coalesce(attempt.lease_until, clock_timestamp() + $4 * interval '1 millisecond') as lease_until
  from asked
  left join claimed on claimed.delivery_id = asked.id and claimed.number = asked.number
  left join webhook_attempts attempt on attempt.delivery_id = asked.id and attempt.number = asked.number
  order by asked.place`

const finishAttempts = `
  with ended as (
    select * from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::int[], $5::float8[], $6::text[], $7::bytea[], $8::text[])
      as ended (id, number, finished_at, status_code, duration_ms, error, excerpt, status)
  ),
  attempt as (
    update webhook_attempts made
    set finished_at = ended.finished_at, status_code = ended.status_code, duration_ms = ended.duration_ms,
      error = ended.error, response_excerpt = ended.excerpt
    from ended where made.delivery_id = ended.id and made.number = ended.number
      and (made.finished_at is null or ended.error is null)
    returning ended.*
  )
  update webhook_deliveries delivery
  set attempt_count = greatest(attempt_count, attempt.number), status = attempt.status,
    delivered_at = case when attempt.status = 'delivered' then attempt.finished_at else delivered_at end
  from attempt where delivery.id = attempt.id and (attempt_count < attempt.number or attempt.error is null)`

/** Of one statement; more are in flight together than this rarely. */
const maxGathered = 200

/** Claims last for `leaseMs`. Claims and finishes that come close together share a statement; each is as safe as alone. */
export function createDeliveryStore(pool: pg.Pool, leaseMs: number): DeliveryStore {
  const claim = gatherClaims(pool, leaseMs)
  const finish = gatherFinishes(pool)
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
    claim,
    finish: (delivery, attempt) => finish({ delivery, attempt }),
  }
}

function gatherClaims(pool: pg.Pool, leaseMs: number): DeliveryStore['claim'] {
  return gatherCalls<WebhookDelivery, Claim>({
    keyOf: ({ delivery_id: id }) => id,
    maxItems: maxGathered,
    async run(deliveries) {
      const { rows } = await query<ClaimRow>(pool, claimAttempts, [
        deliveries.map(({ delivery_id: id }) => idToUuid(id)),
        deliveries.map(({ attempt }) => attempt),
        // A replay repeats what was delivered; a retry does not.
        deliveries.map(({ attempt, first_attempt: first }) => attempt === first),
        leaseMs,
      ])
      return deliveries.map(({ attempt }, index) => claimOf(rows[index], attempt))
    },
  })
}

interface Ended {
  delivery: WebhookDelivery
  attempt: FinishedAttempt
}

function gatherFinishes(pool: pg.Pool): (ended: Ended) => Promise<undefined> {
  return gatherCalls<Ended, undefined>({
    keyOf: ({ delivery }) => delivery.delivery_id,
    maxItems: maxGathered,
    async run(ended) {
      const column = <T>(read: (one: Ended) => T): T[] => ended.map(read)
      await query(pool, finishAttempts, [
        column(({ delivery }) => idToUuid(delivery.delivery_id)),
        column(({ delivery }) => delivery.attempt),
        column(({ attempt }) => new Date(attempt.finishedAtMs)),
        column(({ attempt }) => attempt.statusCode),
        column(({ attempt }) => attempt.durationMs),
        column(({ attempt }) => attempt.error),
        column(({ attempt }) => attempt.excerpt),
        column(({ attempt }) => statusAfter(attempt)),
      ])
      return ended.map(() => undefined)
    },
  })
}

interface ClaimRow {
  is_there: boolean
  status: string
  attempt_count: number
  claimed: boolean
  begun: boolean
  finished_at: Date | null
  error: string | null
  lease_until: Date
}

function claimOf(row: ClaimRow | undefined, attempt: number): Claim {
  if (row?.is_there !== true) return { kind: 'gone' }
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
