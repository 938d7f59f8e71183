import type { Knex } from 'knex'

/**
 * Rewrites parts of a function where it stands, so that each migration adds to what those before it made.
 * Throws for a part that the function does not have. `signature`: its name and argument types.
 */
export async function replaceInFunction(
  knex: Knex,
  signature: string,
  parts: readonly (readonly [before: string, after: string])[],
): Promise<void> {
  const { rows } = await knex.raw<{ rows: { text: string }[] }>(
    'select pg_get_functiondef(?::regprocedure) as text',
    [signature],
  )
  const before = rows[0]?.text ?? ''
  const after = parts.reduce((text, [part, replacement]) => {
    if (!text.includes(part)) throw new Error(`${signature} has no ${part}`)
    return text.replace(part, replacement)
  }, before)
  await knex.raw(after)
}
