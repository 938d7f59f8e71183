import type { Knex } from 'knex'
import { replaceInFunction } from '../replace-in-function.ts'

const partitions = 'ensure_day_partitions(date)'

/** One sealed line of prompt and answer of each call, by day, apart from the rows that lists scan. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table request_previews (
      project_id uuid not null,
      request_id uuid not null,
      created_at timestamptz(3) not null,
      codec text not null, key_id text, data bytea not null,
      primary key (project_id, request_id, created_at)
    ) partition by range (created_at);
  `)
  await replaceInFunction(knex, partitions, additions)
}

export async function down(knex: Knex): Promise<void> {
  await replaceInFunction(
    knex,
    partitions,
    additions.map(([before, after]) => [after, before]),
  )
  await knex.raw('drop table request_previews')
}

const additions: readonly (readonly [before: string, after: string])[] = [
  ["'llm_request_bodies', 'safety_scores'", "'llm_request_bodies', 'request_previews', 'safety_scores'"],
  [
    `('safety_scores', 'llm_requests', `,
    `('request_previews', 'llm_requests', 'project_id, request_id, created_at', 'project_id, id, created_at'),
      ('safety_scores', 'llm_requests', `,
  ],
]
