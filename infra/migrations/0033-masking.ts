import type { Knex } from 'knex'

/** Which projects mask what detectors find before it is stored, and what was masked in each call. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table projects add column mask boolean not null default false;
    -- [{ kind, place, count }]; null: the project did not mask.
    alter table llm_requests add column masked jsonb;
  `)
  await rewriteFinder(knex, additions)
}

export async function down(knex: Knex): Promise<void> {
  await rewriteFinder(
    knex,
    additions.map(([before, after]) => [after, before]),
  )
  await knex.raw(`
    alter table llm_requests drop column masked;
    alter table projects drop column mask;
  `)
}

const additions: readonly (readonly [before: string, after: string])[] = [
  ['zero_content_retention boolean', 'zero_content_retention boolean, mask boolean'],
  ['p.zero_content_retention', 'p.zero_content_retention, p.mask'],
]

/**
 * Rewrites find_key (0031) where it stands. A function whose columns change cannot be replaced; rights of the
 * roles are granted again after every migration (row-security.ts).
 */
async function rewriteFinder(
  knex: Knex,
  parts: readonly (readonly [before: string, after: string])[],
): Promise<void> {
  const { rows } = await knex.raw<{ rows: { text: string }[] }>(
    `select pg_get_functiondef('find_key(bytea)'::regprocedure) as text`,
  )
  const text = parts.reduce((made, [before, after]) => {
    if (!made.includes(before)) throw new Error(`find_key has no ${before}`)
    return made.replace(before, after)
  }, rows[0]?.text ?? '')
  await knex.raw('drop function find_key(bytea)')
  await knex.raw(text)
  await knex.raw('revoke all on function find_key(bytea) from public')
}
