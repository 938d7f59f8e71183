import { createRequire } from 'node:module'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { CannotStart } from './embedded/embedded-part.ts'
import { requireOwnSessions } from '#runtime/own-sessions.ts'
import { connectionOf, type PostgresAddress } from '#runtime/postgres-address.ts'
import { classifyPostgresError, giveUpSilentClients } from '#runtime/postgres.ts'
import { migrationNames } from '#schemas/newest-migration.ts'
import { explainMissingRight, requireOwnRoles } from './database-rights.ts'
import { secureRows } from './row-security.ts'
import { isBeforeSquash, takeOver } from './take-over.ts'

// knex is CommonJS and its type of the default import is not callable under `nodenext`.
const createKnex = createRequire(import.meta.url)('knex') as (config: Knex.Config) => Knex

/** By their files' names. A released migration is never changed: the next one is added to the folder. */
const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve([...migrationNames]),
  getMigrationName: (name) => name,
  getMigration: (name) => import(`./migrations/${name}.ts`) as Promise<Knex.Migration>,
}

/** Any number, the same for every version: the holder of this advisory lock migrates, others wait. */
const migrationLock = 7_355_608
const tableName = 'schema_migrations'

export interface MigrationReport {
  applied: readonly string[]
  pending: readonly string[]
  /** Applied by a newer version of Sluice: this one runs over them, and does not know what they hold. */
  newer: readonly string[]
  /** The database was one of the version before 0.1.0: its migrations were recorded under their new names. */
  tookOver?: true
}

/**
 * Brings the database at `url` up to date; safe to run twice and twice at once. Returns what it applied. With
 * an authority (PEM) the server must be certified by it. `rolePrefix` is the services' DATABASE_ROLE_PREFIX.
 */
export async function migrate(url: string, authority?: string, rolePrefix = ''): Promise<MigrationReport> {
  const address = { DATABASE_URL: url, DATABASE_SSL_CA: authority }
  return withKnex(address, async (knex) => {
    // Held by one connection of its own; a killed migrator's lock goes with its connection, unlike knex's
    // lock row.
    await knex.raw('select pg_advisory_lock(?)', [migrationLock])
    // A migrator that was killed leaves knex's own lock row set; with the advisory lock held, nobody can be
    // using it.
    await knex.migrate.forceFreeMigrationsLock()
    const { names } = await listMigrations(knex)
    if (names.length === 0) await requireOwnRoles(address, rolePrefix)
    const tookOver = isBeforeSquash(names)
    if (tookOver) await takeOver(knex, names, tableName)
    const [, applied] = (await knex.migrate.latest()) as [number, string[]]
    const newer = await findNewer(knex)
    // Who may read a newer version's tables is for that version to say.
    if (newer.length === 0) await secureRows(address, rolePrefix)
    return { applied, pending: [], newer, ...(tookOver && { tookOver }) }
  })
}

/**
 * Undoes the migration that was applied last, with the data of its tables. Returns its name; undefined when
 * there is none. Throws CannotStart where a newer version's stands behind it: that version alone can undo it.
 */
export async function undoLast(url: string, authority?: string): Promise<string | undefined> {
  return withKnex({ DATABASE_URL: url, DATABASE_SSL_CA: authority }, async (knex) => {
    await knex.raw('select pg_advisory_lock(?)', [migrationLock])
    await knex.migrate.forceFreeMigrationsLock()
    const { names } = await listMigrations(knex)
    if (isBeforeSquash(names))
      throw new CannotStart('the database is one of the version before 0.1.0: run scripts/migrate first')
    const newer = names.filter((name) => !isKnown(name))
    if (newer.length > 0)
      throw new CannotStart(
        `${newer.join(', ')}: of a newer version, which has to undo it before this one can go on`,
      )
    const [, undone] = (await knex.migrate.down()) as [number, string[]]
    return undone[0]
  })
}

/** What `migrate` has done and would do. */
export async function migrationStatus(url: string, authority?: string): Promise<MigrationReport> {
  return withKnex({ DATABASE_URL: url, DATABASE_SSL_CA: authority }, async (knex) => {
    const { names, pending } = await listMigrations(knex)
    if (isBeforeSquash(names)) return { applied: [], pending, newer: [] }
    return { applied: names.filter(isKnown), pending, newer: names.filter((name) => !isKnown(name)) }
  })
}

function isKnown(name: string): boolean {
  return migrationNames.includes(name)
}

async function listMigrations(knex: Knex): Promise<{ names: string[]; pending: string[] }> {
  const [applied, pending] = (await knex.migrate.list()) as [{ name: string }[], string[]]
  return { names: applied.map(({ name }) => name), pending }
}

async function findNewer(knex: Knex): Promise<string[]> {
  const { names } = await listMigrations(knex)
  return names.filter((name) => !isKnown(name))
}

async function withKnex<T>(address: PostgresAddress, work: (knex: Knex) => Promise<T>): Promise<T> {
  await requireOwnSessions(address).catch((error: unknown) => {
    throw classifyPostgresError(error)
  })
  const knex = createKnex({
    client: 'pg',
    connection: connectionOf(address),
    pool: {
      min: 1,
      max: 1,
      // A migrator whose host is gone must not keep the next from its lock.
      afterCreate: (client: Client, done: (error: Error | null, client: Client) => void) =>
        client.query(giveUpSilentClients, (error) => done(error, client)),
    },
    // It warns, with a stack, of a connection that was not made, and throws that too.
    log: { warn: () => undefined },
    // Processes of the version before go on over a newer version's tables: that is the rollback that
    // docs/upgrade.md names.
    migrations: { migrationSource, tableName, disableMigrationsListValidation: true },
  })
  try {
    return await work(knex)
  } catch (error) {
    throw (await explainMissingRight(address, error)) ?? classifyPostgresError(error)
  } finally {
    await knex.destroy()
  }
}
