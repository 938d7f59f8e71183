import type { Knex } from 'knex'

/** What the sweep remembers of calls without scores, so that it asks neither too often nor for ever. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table swept_calls (
      project_id uuid not null,
      request_id uuid not null,
      tries integer not null,
      swept_at timestamptz not null,
      primary key (project_id, request_id)
    );
    create index swept_calls_age on swept_calls (swept_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table swept_calls;')
}
