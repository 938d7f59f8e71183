import type { Knex } from 'knex'

/** What the lists beside calls are filtered by, as 0014 did for calls. Few rows are written to these tables for each that is read. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What has failed among a million that were delivered: walking the log took 600 ms.
    create index webhook_deliveries_undelivered on webhook_deliveries (webhook_id, created_at desc, id desc) where status <> 'delivered';

    create index dead_letters_code on dead_letters (code, dead_at desc, id desc);
    create index dead_letters_status on dead_letters (status, dead_at desc, id desc);

    create index score_reviews_reviewer on score_reviews (project_id, reviewer, created_at desc, id desc);
    -- How often people agree is counted from this alone.
    create index score_reviews_scorer on score_reviews (project_id, scorer_name, created_at desc, id desc)
      include (agrees, score_label, expected_label);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index score_reviews_scorer, score_reviews_reviewer, dead_letters_status, dead_letters_code, webhook_deliveries_undelivered;
  `)
}
