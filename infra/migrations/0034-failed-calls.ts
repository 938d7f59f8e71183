import type { Knex } from 'knex'

/**
 * Failed calls are listed by an index of them alone: one in a hundred, so that storing calls hardly notices. 4xx and 5xx are found among them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index llm_requests_failed on llm_requests (project_id, created_at desc, id desc)
      where status_code >= 400 or error is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index llm_requests_failed;')
}
