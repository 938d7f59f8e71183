import type { Knex } from 'knex'

/** Deliveries that wait in the database instead of in a consumer. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(waitingTable)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table webhook_waiting;')
}

const waitingTable = `
  -- An attempt that found its endpoint full or its claim held by another notifier, which may be dead. Whoever takes one
  -- moves due_at ahead, so that it falls due again should they die; it is deleted once what follows from it is published.
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
