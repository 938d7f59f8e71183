import type { Knex } from 'knex'

/**
 * Calls that were broken off are listed by an index of them alone, as failed ones are; those of a tag by one like the agents'. Calls wait in Kafka
 * while they are built.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index llm_requests_aborted on llm_requests (project_id, created_at desc, id desc) where aborted_by is not null;
    create index llm_requests_tag on llm_requests (project_id, agent_tag, created_at desc) where agent_tag is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index llm_requests_tag, llm_requests_aborted;')
}
