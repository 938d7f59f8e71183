import type { Knex } from 'knex'

/**
 * Whose a review is: of somebody who was signed in, or of whom a key or the operator named. One who gives a person's name no longer takes the
 * place of the person's own review. What the audit log does not tell any more goes by the name.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table score_reviews
      add column reviewer_kind text not null default 'key' check (reviewer_kind in ('person', 'key', 'operator')),
      drop constraint score_reviews_project_id_score_id_reviewer_key;
    update score_reviews r set reviewer_kind = coalesce(
      (select a.actor_kind from audit_log a where a.project_id = r.project_id and a.at = r.created_at and a.action = 'review.saved'
         and a.detail ->> 'scorer_name' = r.scorer_name and (a.actor_kind <> 'person' or a.actor_name = r.reviewer) limit 1),
      case when exists (select from people p where p.login = r.reviewer) then 'person' else 'key' end);
    alter table score_reviews add unique (project_id, score_id, reviewer_kind, reviewer);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    delete from score_reviews r using score_reviews later
      where (r.project_id, r.score_id, r.reviewer) = (later.project_id, later.score_id, later.reviewer)
        and (r.created_at, r.id) < (later.created_at, later.id);
    alter table score_reviews drop column reviewer_kind, add unique (project_id, score_id, reviewer);
  `)
}
