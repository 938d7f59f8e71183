import type { Knex } from 'knex'

/** Filters of a page that a person has named. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table saved_views (
      id uuid primary key,
      person_id uuid not null references people (id) on delete cascade,
      name text not null,
      -- As in the address of the list of requests.
      query text not null,
      created_at timestamptz(3) not null,
      unique (person_id, name)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table saved_views')
}
