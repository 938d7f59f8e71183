import type { Knex } from 'knex'

/** The page of the payment provider that a project was sent to last: where another is asked for, it has to be closed first. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table subscriptions add column payment_checkout_id text')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table subscriptions drop column payment_checkout_id')
}
