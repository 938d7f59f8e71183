import type { Knex } from 'knex'

/** Which of the payment provider's events a subscription was last changed by, so that older ones and repeats change nothing. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table subscriptions
      add column payment_event_id text,
      add column payment_event_at timestamptz,
      -- Events have whole seconds: of one second, created comes before updated and updated before deleted.
      add column payment_event_rank integer;
    create index subscriptions_payment on subscriptions (payment_subscription_id) where payment_subscription_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index subscriptions_payment;
    alter table subscriptions drop column payment_event_id, drop column payment_event_at, drop column payment_event_rank;
  `)
}
