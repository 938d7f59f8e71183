import pg from 'pg'
import { codeOf, PermanentError } from './errors.ts'
import { connectionOf, type PostgresAddress } from './postgres-address.ts'

/** Whether {@link requireOwnSessions} threw it because sessions are shared. */
export function areSessionsShared(error: unknown): error is Error {
  return codeOf(error) === 'POSTGRES_SESSIONS_SHARED'
}

const timeoutMs = 5_000
/** The first round detects an idle pooler. Under load each round is another chance. */
const rounds = 4

/**
 * Throws POSTGRES_SESSIONS_SHARED unless a connection keeps its own server process; pg's error where that
 * cannot be determined.
 */
export async function requireOwnSessions(address: PostgresAddress): Promise<void> {
  const clients = [openClient(address), openClient(address)] as const
  try {
    await Promise.all(clients.map((client) => client.connect()))
    if (!(await areShared(...clients))) return
    throw new PermanentError(
      'POSTGRES_SESSIONS_SHARED',
      'DATABASE_URL leads through a pooler that shares sessions between clients, ' +
        'under which row-level security does not hold: set pool_mode = session, or name Postgres itself',
    )
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

function openClient(address: PostgresAddress): pg.Client {
  const client = new pg.Client({
    ...connectionOf(address),
    application_name: 'sluice-sessions',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  // A lost connection also fails the next statement. Unhandled, the event would end the process.
  client.on('error', () => undefined)
  return client
}

/**
 * Two clients query in turn, never at once. A pooler that reuses the last process gives both the same one. A
 * pooler that reuses the oldest process gives two queries of one client different ones.
 */
async function areShared(one: pg.Client, other: pg.Client): Promise<boolean> {
  const seen = new Map<pg.Client, number>()
  for (let round = 0; round < rounds; round++) {
    for (const client of [one, other, other, one]) {
      const pid = await backendOf(client)
      const known = seen.get(client)
      if (known !== undefined && known !== pid) return true
      seen.set(client, pid)
      if (seen.get(one) === seen.get(other)) return true
    }
  }
  return false
}

async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return (rows[0] as { pid: number }).pid
}
