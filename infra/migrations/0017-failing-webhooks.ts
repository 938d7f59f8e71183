import type { Knex } from 'knex'

/** Webhooks that are disabled when nothing reaches them for long; and one look-up less for each delivery. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhooks
      -- Off unless its owner sets it.
      add column disable_after_hours integer check (disable_after_hours between 1 and 720),
      -- When a delivery failed for good, the first since one was delivered.
      add column failing_since timestamptz,
      -- Of a disabling by the notifier; both null when it is enabled or was disabled by its owner.
      add column disabled_at timestamptz,
      add column disabled_reason text;

    -- Deliveries are inserted by a join with their webhook on both keys, and the webhook's own key holds its project; 8 µs a row.
    alter table webhook_deliveries drop constraint webhook_deliveries_project_id_fkey;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhook_deliveries add foreign key (project_id) references projects (id);
    alter table webhooks drop column disabled_reason, drop column disabled_at, drop column failing_since,
      drop column disable_after_hours;
  `)
}
