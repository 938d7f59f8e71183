import type { Knex } from 'knex'

/** What people think of verdicts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table score_reviews (
      id uuid primary key,
      project_id uuid not null references projects (id),
      request_id uuid not null,
      request_created_at timestamptz(3) not null,
      score_id uuid not null,
      -- Of the score as it was when it was reviewed.
      scorer_name text not null,
      scorer_version text not null,
      score_label text not null,
      expected_label text not null check (expected_label in ('safe', 'unsafe')),
      agrees boolean not null,
      reviewer text not null,
      reason text,
      created_at timestamptz(3) not null,
      unique (project_id, score_id, reviewer)
    );
    create index score_reviews_recent on score_reviews (project_id, created_at desc, id desc);
    create index score_reviews_request on score_reviews (project_id, request_id);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table score_reviews;')
}
