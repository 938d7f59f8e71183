import type { Knex } from 'knex'

/**
 * Failed calls are listed by an index of them alone: one in a hundred, so that storing calls hardly notices. 4xx and 5xx are found among them
 * (of 100,000 calls: 0.4 ms for a page, 1.5 ms to find that none of the 955 is one). Calls without a score yet have no such index, because the
 * verdict is in another table: looking for none among 95,000 took 1.2 s, for each a look at it.
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
