import type { Knex } from 'knex'

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
  await replaceInFunction(knex, additions)
}

export async function down(knex: Knex): Promise<void> {
  await replaceInFunction(
    knex,
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

/** Rewrites parts of ensure_day_partitions, so that each migration adds its table to those before it. */
async function replaceInFunction(knex: Knex, parts: readonly (readonly [string, string])[]): Promise<void> {
  const { rows } = await knex.raw<{ rows: { text: string }[] }>(
    `select pg_get_functiondef('ensure_day_partitions(date)'::regprocedure) as text`,
  )
  const before = rows[0]?.text ?? ''
  const after = parts.reduce((text, [part, replacement]) => {
    if (!text.includes(part)) throw new Error(`ensure_day_partitions has no ${part}`)
    return text.replace(part, replacement)
  }, before)
  await knex.raw(after)
}
