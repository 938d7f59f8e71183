import type { Knex } from 'knex'

/** What each gateway last said of itself. Its project is null where it records for many, as the operator. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table gateways (
      project_id uuid references projects (id) on delete cascade,
      name text not null,
      version text not null,
      delivery text not null check (delivery in ('api', 'kafka')),
      started_at timestamptz(3) not null,
      seen_at timestamptz(3) not null,
      spool_records bigint not null,
      spool_bytes bigint not null,
      -- Null: nothing waits.
      spool_oldest_at timestamptz(3),
      lost jsonb not null,
      problems jsonb not null,
      unique nulls not distinct (project_id, name)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table gateways;')
}
