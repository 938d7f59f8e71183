import type { Knex } from 'knex'

/** Destinations: webhooks of other kinds, and how many events each got in a minute. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhooks
      add column kind text not null default 'webhook',
      -- Checked by schemas/destinations.ts.
      add column settings jsonb not null default '{}',
      -- A JSON object, sealed; null: the kind needs none.
      add column credentials_codec text, add column credentials_key_id text, add column credentials_data bytea,
      -- Whether masked text of calls is sent.
      add column include_text boolean not null default true,
      -- Null: no limit, as for webhooks.
      add column max_per_minute integer check (max_per_minute between 1 and 6000);

    -- Rows of past minutes are deleted when the next is written.
    create table destination_minutes (
      webhook_id uuid not null references webhooks (id) on delete cascade,
      minute timestamptz not null,
      sent integer not null,
      primary key (webhook_id, minute)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table destination_minutes;
    alter table webhooks drop column kind, drop column settings, drop column credentials_codec,
      drop column credentials_key_id, drop column credentials_data, drop column include_text,
      drop column max_per_minute;
  `)
}
