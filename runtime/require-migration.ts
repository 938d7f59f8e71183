import pg from 'pg'
import { codeOf } from './errors.ts'
import type { Log } from './log.ts'
import { areSessionsShared, requireOwnSessions } from './own-sessions.ts'
import { connectionOf, type PostgresAddress } from './postgres-address.ts'

const undefinedTable = '42P01'
const timeoutMs = 5_000

/**
 * What a service does before it starts: throws where its database lacks the migration `name`, because what it
 * would say later, of a table that is not there, tells nobody what to do; and POSTGRES_SESSIONS_SHARED behind
 * a pooler that shares them. One that has more is fine. Where that cannot be seen, Postgres being away above
 * all, it warns: the services know what to do then.
 */
export function requireMigration(name: string): (address: PostgresAddress, log: Log) => Promise<void> {
  return async (address, log) => {
    const applied = await isApplied(address, name).catch((error: unknown) => {
      if (areSessionsShared(error)) throw error
      log.warn({ err: error }, `whether the database has migration ${name} could not be seen`)
      return true
    })
    if (applied) return
    throw new Error(
      `the database is older than this program, it lacks migration ${name}: run scripts/migrate of this version (docs/upgrade.md)`,
    )
  }
}

/** By a connection of its own: those of a pool may have taken a role, which sees no migrations. */
async function isApplied(address: PostgresAddress, name: string): Promise<boolean> {
  await requireOwnSessions(address)
  const client = new pg.Client({
    ...connectionOf(address),
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  // Lost between two statements, which say so too: unheard it would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rowCount } = await client.query('select from schema_migrations where name = $1', [name])
    return rowCount === 1
  } catch (error) {
    if (codeOf(error) === undefinedTable) return false
    throw error
  } finally {
    await client.end()
  }
}
