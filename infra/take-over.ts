import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Knex } from 'knex'
import { migrationNames } from '#schemas/newest-migration.ts'
import { describeCatalogue } from './catalogue.ts'
import { CannotStart } from './embedded/embedded-part.ts'

/** The first and the last of the 44 migrations before 0.1.0, which 0001 to 0009 replace. */
const [firstBefore, lastBefore] = ['0001-projects', '0052-open-checkouts']
/** The last that replaces them: those behind it were added since. */
const lastReplacing = '0009-erasures-and-dead-letters'
const mostShown = 5

/** Whether the migrations that are applied are those before 0.1.0. */
export function isBeforeSquash(names: readonly string[]): boolean {
  return names.includes(firstBefore)
}

/**
 * On a database at 0052, records 0001 to 0009 in place of the 44 migrations before 0.1.0 and changes nothing
 * else. Throws CannotStart, with what to do, for an older database and for one that lacks what 0052 had.
 */
export async function takeOver(knex: Knex, names: readonly string[], tableName: string): Promise<void> {
  if (!names.includes(lastBefore))
    throw new CannotStart(
      `the database stands at migration ${names.toSorted().at(-1) ?? ''}, and only one at ${lastBefore} can be taken over: ` +
        'run scripts/migrate of commit 9807f407 first, then this one again (docs/upgrade.md)',
    )
  await knex.transaction(async (transaction) => {
    const there = new Set(await describeCatalogue((sql) => transaction.raw(sql)))
    const missing = readCatalogue().filter((line) => !there.has(line))
    if (missing.length > 0) throw new CannotStart(describeMissing(missing))
    await transaction(tableName).delete()
    const replacing = migrationNames.filter((name) => name <= lastReplacing)
    await transaction(tableName).insert(
      replacing.map((name) => ({ name, batch: 1, migration_time: transaction.fn.now() })),
    )
  })
}

/** What a database at 0052 has, but for storage settings: operators tune these. */
function readCatalogue(): string[] {
  const text = readFileSync(join(import.meta.dirname, 'catalogue-0052.txt'), 'utf8')
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('storage '))
}

function describeMissing(missing: readonly string[]): string {
  const more = missing.length > mostShown ? `; and ${missing.length - mostShown} more` : ''
  return (
    `the database is at ${lastBefore}, but lacks of it: ${missing.slice(0, mostShown).join('; ')}${more}. ` +
    'Nothing was changed: restore these definitions, then run scripts/migrate again'
  )
}
