import type { Knex } from 'knex'

/** How far the queues have to come until a run has all the scores that it gets: a topic, and where each of its partitions ended. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table score_runs add column awaited jsonb')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table score_runs drop column awaited')
}
