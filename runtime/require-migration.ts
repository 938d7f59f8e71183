import pg from 'pg'
import { codeOf } from './errors.ts'
import type { Log } from './log.ts'
import { areSessionsShared, requireOwnSessions } from './own-sessions.ts'
import { connectionOf, type PostgresAddress } from './postgres-address.ts'

const undefinedTable = '42P01'
const timeoutMs = 5_000

/**
 * Throws before a service starts when its database lacks the migration `name`, as later errors about missing
 * tables would not say what to do. Throws POSTGRES_SESSIONS_SHARED behind a pooler that shares sessions.
 * Later migrations are fine. When Postgres is away it only warns, and the service retries.
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

/** On its own connection: one of the pool may have taken a role that cannot see migrations. */
async function isApplied(address: PostgresAddress, name: string): Promise<boolean> {
  await requireOwnSessions(address)
  const client = new pg.Client({
    ...connectionOf(address),
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  // A lost connection also fails the next statement. Unhandled, the event would end the process.
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
