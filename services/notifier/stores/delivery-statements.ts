import type { PreparedStatement } from '#runtime/postgres.ts'
import { webhookVersion } from './webhook-rows.ts'

// Prepared: planning takes 25 µs a delivery in batches of a hundred.

const lockWebhooks = `
  with webhook as materialized (
    select id, project_id, ${webhookVersion} as version from webhooks w where id = any($2::uuid[]) order by id for key share
  )`
const insertThose = `
  insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, content_codec,
    content_key_id, content_data, content_id, created_at)
  select d.id, d.webhook_id, d.project_id, d.event_id, d.event, d.event_created_at, d.data, d.content_codec,
    d.content_key_id, d.content_data, d.content_id, now()
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[], $7::bytea[], $8::text[],
    $9::text[], $10::bytea[], $11::text[], $12::text[]) as d (id, webhook_id, project_id, event_id, event, event_created_at, data,
    content_codec, content_key_id, content_data, content_id, version)
  join webhook on webhook.id = d.webhook_id and webhook.project_id = d.project_id and webhook.version = coalesce(d.version, webhook.version)
  where not exists (select from erased_requests x where x.project_id = d.project_id and x.request =
    coalesce(d.content_id, substring(convert_from(d.data, 'UTF8') from '"request_id":"(req_[0-9a-z]{26})"')))
  on conflict (id) do nothing`

/** Writes deliveries that do not exist yet. Locks their webhooks against deletion (docs/decisions/0071). */
export const insertDeliveries: PreparedStatement = {
  name: 'insert_deliveries',
  text: lockWebhooks + insertThose,
}

/**
 * The same, with a waiting first attempt for each, also for existing ones, whose event was redelivered.
 * Returns the few for which none waits: a row written at the same moment is not seen.
 */
export const insertWaitingDeliveries: PreparedStatement = {
  name: 'insert_waiting_deliveries',
  text: `${lockWebhooks},
  inserted as (${insertThose} returning id, webhook_id),
  due as (
    select id, webhook_id from inserted union all select id, webhook_id from webhook_deliveries where id = any($1::uuid[])
  ),
  waiting as (
    insert into webhook_waiting (delivery_id, webhook_id, attempt, first_attempt, due_at)
    select id, webhook_id, 1, 1, now() from due order by id
    on conflict (delivery_id) do nothing
  )
  ${ordinalsNotIn('due')}`,
}

/** The same for unchanged webhooks, with the claim of each first attempt. Returns those not written. */
export const beginDeliveries: PreparedStatement = {
  name: 'begin_deliveries',
  text: `${lockWebhooks},
  begun as (${insertThose} returning id),
  claimed as (
    insert into webhook_attempts (delivery_id, number, lease_until, at)
    select id, 1, clock_timestamp() + $13 * interval '1 millisecond', clock_timestamp() from begun
  )
  ${ordinalsNotIn('begun')}`,
}

/**
 * Claims attempts and returns the few not claimed. Locks the deliveries against deletion meanwhile, and all
 * rows in the order of their keys: two notifiers that claim the same ones wait instead of deadlocking.
 */
export const claimAttempts: PreparedStatement = {
  name: 'claim_attempts',
  text: `
  with delivery as materialized (
    select id, status, attempt_count from webhook_deliveries where id = any($1::uuid[]) order by id for key share
  ),
  asked as (
    select asked.*, delivery.id is not null as is_there, delivery.status, delivery.attempt_count
    from unnest($1::uuid[], $2::int[], $3::bool[]) with ordinality as asked (id, number, opens_round, ordinal)
    left join delivery on delivery.id = asked.id
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
  select asked.ordinal::integer, asked.is_there, asked.status, asked.attempt_count,
    attempt.finished_at, attempt.error, coalesce(attempt.lease_until, clock_timestamp() + $4 * interval '1 millisecond') as lease_until
  from asked
  left join claimed on claimed.delivery_id = asked.id and claimed.number = asked.number
  left join webhook_attempts attempt on attempt.delivery_id = asked.id and attempt.number = asked.number
  where claimed.number is null`,
}

/** A failure never replaces a success, unless it belongs to a later manual replay. */
export const finishAttempts: PreparedStatement = {
  name: 'finish_attempts',
  text: `
  with ended as (
    select * from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::int[], $5::float8[], $6::text[], $7::bytea[], $8::text[],
      $9::bool[]) as ended (id, number, finished_at, status_code, duration_ms, error, excerpt, status, opens_round)
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
  set attempt_count = greatest(attempt_count, attempt.number),
    status = case when delivery.status = 'delivered' and not attempt.opens_round then delivery.status else attempt.status end,
    delivered_at = case when attempt.status = 'delivered' then attempt.finished_at else delivered_at end
  from attempt where delivery.id = attempt.id and (attempt_count < attempt.number or attempt.error is null)`,
}

/** Ends a delivery as failed, whether its attempt was claimed or not. A stored attempt keeps its result. */
export const abandonDelivery = `
  with delivery as (
    update webhook_deliveries set attempt_count = greatest(attempt_count, $2), status = 'failed' where id = $1 and status <> 'delivered'
    returning id
  )
  insert into webhook_attempts as attempt (delivery_id, number, lease_until, at, finished_at, error)
  select id, $2, now(), now(), now(), $3 from delivery
  on conflict (delivery_id, number) do update set finished_at = excluded.finished_at, error = excluded.error
    where attempt.finished_at is null`

/** Ordinals in $1, from 1 on, of the deliveries that are not in `written`. */
function ordinalsNotIn(written: string): string {
  return `select asked.ordinal::integer from unnest($1::uuid[]) with ordinality as asked (id, ordinal)
  where not exists (select from ${written} where ${written}.id = asked.id)`
}
