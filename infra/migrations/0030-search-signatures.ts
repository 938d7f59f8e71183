import type { Knex } from 'knex'
import { replaceInFunction } from '../replace-in-function.ts'

const partitions = 'ensure_day_partitions(date)'

/**
 * Search signatures of calls by day (capture/search). They refer to the bodies: a signature never outlives
 * them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table search_signatures (
      project_id uuid not null,
      request_id uuid not null,
      created_at timestamptz(3) not null,
      key_id text not null,
      -- Empty: always opened.
      bits bytea not null check (octet_length(bits) <= 4096),
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
  await knex.raw('drop table search_signatures')
}

const additions: readonly (readonly [before: string, after: string])[] = [
  [`'request_verdicts'];`, `'request_verdicts', 'search_signatures'];`],
  [
    `('safety_scores', 'llm_requests', `,
    `('search_signatures', 'llm_request_bodies', 'project_id, request_id, created_at', 'project_id, request_id, created_at'),
      ('safety_scores', 'llm_requests', `,
  ],
]
