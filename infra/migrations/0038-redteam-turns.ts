import type { Knex } from 'knex'

/** Every answer of an attempt counts: those before the last have requests of their own, and a failure says in which it was found. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table redteam_attempts
      -- As planned, at most, until the attempt is recorded. Their requests' identifiers follow from the attempt's.
      add column earlier_turns integer not null default 0,
      add column found_in uuid;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table redteam_attempts drop column found_in, drop column earlier_turns')
}
