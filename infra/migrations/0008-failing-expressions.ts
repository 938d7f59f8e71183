import type { Knex } from 'knex'

/** What a webhook's filter expression failed with last: it sends nothing then, and its owner has to see why. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhooks add column expression_failure text, add column expression_failed_at timestamptz;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table webhooks drop column expression_failure, drop column expression_failed_at;')
}
