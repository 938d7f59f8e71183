import type { Knex } from 'knex'

/** Since when an encryption key is no longer the one that encrypts: topics may hold what it sealed for some weeks more. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table body_keys (
      key_id text primary key,
      -- Null: it encrypts.
      retired_at timestamptz(3)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table body_keys;')
}
