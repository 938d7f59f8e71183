import type { Knex } from 'knex'

/** The outbox of events, and webhooks with their deliveries. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(outboxTable)
  await knex.raw(webhookTables)
  await knex.raw(cascade)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table webhook_waiting, webhook_attempts, webhook_deliveries, webhooks, event_outbox;
    drop function delete_webhook_attempts();
  `)
}

// Autovacuum comes at a hundredth of dead rows, not a fifth: a fifth of 90 days of deliveries is 18 days of
// them, through which a search for the oldest walks.
const vacuumEarly = 'autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000'

const outboxTable = `
  -- Written in the transaction that made the event true; the relay publishes it and sets published_at.
  create table event_outbox (
    seq bigint generated always as identity primary key,
    id uuid not null unique,
    event text not null,
    project_id uuid not null references projects (id),
    created_at timestamptz(3) not null,
    -- JSON as bytes: jsonb refuses the NUL characters of hostile text.
    data bytea not null,
    content_codec text, content_key_id text, content_data bytea,
    content_id text,
    webhook_id uuid,
    published_at timestamptz
  ) with (${vacuumEarly});
  create index event_outbox_unpublished on event_outbox (seq) where published_at is null;
  create index event_outbox_published on event_outbox (published_at) where published_at is not null;
  create index event_outbox_project on event_outbox (project_id, created_at);
`

/**
 * A delivery's two updates are heap-only: pages keep room for them, and no index names a column that the way
 * from pending to delivered changes. The index of what failed names has_failed, because a condition on status
 * would be touched by every update. 19 µs less of 69 a delivery in Postgres, 1.6 kB of write-ahead log
 * instead of 2.3 (groups of 100, 2 cores). A list of pending deliveries alone walks the log: 40 ms of 50,000.
 */
const webhookTables = `
  create table webhooks (
    id uuid primary key,
    project_id uuid not null references projects (id),
    url text not null,
    events text[] not null,
    filters jsonb not null default '{}',
    filter_expression text,
    enabled boolean not null default true,
    secret_codec text not null, secret_key_id text, secret_data bytea not null,
    previous_secret_codec text, previous_secret_key_id text, previous_secret_data bytea,
    previous_secret_until timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- Why its filter expression failed last: it sends nothing then.
    expression_failure text,
    expression_failed_at timestamptz,
    -- Off unless its owner sets it.
    disable_after_hours integer check (disable_after_hours between 1 and 720),
    -- When a delivery failed for good, the first since one was delivered.
    failing_since timestamptz,
    -- Of a disabling by the notifier; both null when it is enabled or its owner disabled it.
    disabled_at timestamptz,
    disabled_reason text
  );
  create index webhooks_project on webhooks (project_id, created_at);

  -- The log of what was sent to whom. The event is kept: a manual replay sends the same bytes. No foreign
  -- keys, which look up each row's parent: the notifier locks parents itself, a statement's at once
  -- (docs/decisions/0071).
  create table webhook_deliveries (
    id uuid primary key,
    webhook_id uuid not null,
    project_id uuid not null,
    event_id uuid not null,
    event text not null,
    event_created_at timestamptz(3) not null,
    data bytea not null,
    content_codec text, content_key_id text, content_data bytea,
    content_id text,
    status text not null default 'pending' check (status in ('pending', 'retrying', 'delivered', 'failed')),
    attempt_count integer not null default 0,
    created_at timestamptz not null,
    delivered_at timestamptz,
    has_failed boolean not null generated always as (status in ('retrying', 'failed')) stored
  ) with (fillfactor = 50, ${vacuumEarly});
  create index webhook_deliveries_log on webhook_deliveries (webhook_id, created_at desc, id desc);
  create index webhook_deliveries_failed on webhook_deliveries (webhook_id, created_at desc, id desc) where has_failed;
  create index webhook_deliveries_project on webhook_deliveries (project_id, event_created_at);
  create index webhook_deliveries_age on webhook_deliveries using brin (created_at);

  -- A row is claimed with a lease before its attempt is sent, so that two notifiers never send the same one.
  -- Pages are filled to 40 %: with its end a row is half as long again as it was claimed.
  create table webhook_attempts (
    delivery_id uuid not null,
    number integer not null,
    lease_until timestamptz not null,
    at timestamptz not null,
    finished_at timestamptz,
    status_code integer,
    duration_ms double precision,
    error text,
    response_excerpt bytea,
    primary key (delivery_id, number)
  ) with (${vacuumEarly}, fillfactor = 40);

  -- An attempt that found its endpoint full or its claim held by another notifier, which may be dead. Taking
  -- a row moves due_at ahead, so that it falls due again if the taker dies; it is deleted once its result is
  -- published.
  create table webhook_waiting (
    delivery_id uuid primary key references webhook_deliveries (id) on delete cascade,
    webhook_id uuid not null,
    attempt integer not null,
    first_attempt integer not null,
    last_error text,
    due_at timestamptz not null
  );
  create index webhook_waiting_due on webhook_waiting (webhook_id, due_at);
`

// Attempts go with their delivery. With the owner's rights, as a foreign key's cascade: rows that row-level
// security hides from the caller go too.
const cascade = `
  do $do$ begin
    execute format($function$
      create function delete_webhook_attempts() returns trigger
        language plpgsql security definer set search_path = %1$I, pg_temp as $$
        begin
          delete from webhook_attempts where delivery_id = old.id;
          return null;
        end $$;
    $function$, current_schema());
    revoke all on function delete_webhook_attempts() from public;
  end $do$;
  create trigger webhook_attempts_go_with_delivery after delete on webhook_deliveries
    for each row execute function delete_webhook_attempts();
`
