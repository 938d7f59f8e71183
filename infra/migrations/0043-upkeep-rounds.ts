import type { Knex } from 'knex'

/** When each task of the sinks' upkeep was begun and done by any of them, and when it is due: ten sinks do one round, not ten. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table upkeep_rounds (
      name text primary key,
      rounds bigint not null,
      began_at timestamptz not null,
      ended_at timestamptz,
      due_at timestamptz not null
    )`)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table upkeep_rounds')
}
