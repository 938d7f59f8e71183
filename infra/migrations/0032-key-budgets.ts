import type { Knex } from 'knex'

/**
 * Monthly budgets of keys, held in leases: what each gateway process may spend, and what it has spent.
 * Amounts are picodollars, as prices have up to eleven decimals.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Locked while a lease of the key changes.
    create table key_months (
      project_id uuid not null references projects (id) on delete cascade,
      key_id uuid not null references api_keys (id) on delete cascade,
      month date not null,
      -- When a call was first refused for its cost.
      exceeded_at timestamptz(3),
      primary key (key_id, month)
    );

    create table key_leases (
      project_id uuid not null references projects (id) on delete cascade,
      key_id uuid not null,
      month date not null,
      -- One for each gateway process.
      lease_id uuid not null,
      -- Of the last report that was applied.
      sequence bigint not null,
      -- What the process may spend in the month, with what it has spent.
      granted numeric(30) not null check (granted >= 0),
      spent numeric(30) not null check (spent >= 0),
      -- Estimates of calls that have not ended.
      under_way numeric(30) not null check (under_way >= 0),
      refused bigint not null,
      expires_at timestamptz(3) not null,
      primary key (key_id, month, lease_id),
      foreign key (key_id, month) references key_months (key_id, month) on delete cascade
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table key_leases, key_months')
}
