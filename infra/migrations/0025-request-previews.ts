import type { Knex } from 'knex'

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
  await replaceInFunction(knex, additions)
}

export async function down(knex: Knex): Promise<void> {
  await replaceInFunction(
    knex,
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
