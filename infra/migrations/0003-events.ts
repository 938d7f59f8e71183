import type { Knex } from 'knex'

/** The outbox of events, and webhooks with their deliveries. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(outboxTable)
  await knex.raw(webhookTables)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table webhook_attempts, webhook_deliveries, webhooks, event_outbox;')
}

const outboxTable = `
  -- Written in the transaction that made the event true; the relay publishes it and sets published_at.
  create table event_outbox (
    seq bigint generated always as identity primary key,
    id uuid not null unique,
    event text not null,
    project_id uuid not null references projects (id),
    created_at timestamptz(3) not null,
    -- JSON as bytes: jsonb refuses the NUL characters that hostile text brings.
    data bytea not null,
    content_codec text, content_key_id text, content_data bytea,
    content_id text,
    webhook_id uuid,
    published_at timestamptz
  );
  create index event_outbox_unpublished on event_outbox (seq) where published_at is null;
`

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
    updated_at timestamptz not null
  );
  create index webhooks_project on webhooks (project_id, created_at);

  -- The log of what was sent to whom. The event is kept so that a manual replay sends the same bytes.
  create table webhook_deliveries (
    id uuid primary key,
    webhook_id uuid not null references webhooks (id) on delete cascade,
    project_id uuid not null references projects (id),
    event_id uuid not null,
    event text not null,
    event_created_at timestamptz(3) not null,
    data bytea not null,
    content_codec text, content_key_id text, content_data bytea,
    content_id text,
    status text not null default 'pending' check (status in ('pending', 'retrying', 'delivered', 'failed')),
    attempt_count integer not null default 0,
    created_at timestamptz not null,
    delivered_at timestamptz
  );
  create index webhook_deliveries_log on webhook_deliveries (webhook_id, created_at desc, id desc);

  -- A row is claimed with a lease before its attempt is sent, so that two notifiers never send the same one.
  create table webhook_attempts (
    delivery_id uuid not null references webhook_deliveries (id) on delete cascade,
    number integer not null,
    lease_until timestamptz not null,
    at timestamptz not null,
    finished_at timestamptz,
    status_code integer,
    duration_ms double precision,
    error text,
    response_excerpt bytea,
    primary key (delivery_id, number)
  );
`
