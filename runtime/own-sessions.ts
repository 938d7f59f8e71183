import pg from 'pg'
import { codeOf, PermanentError } from './errors.ts'
import { connectionOf, type PostgresAddress } from './postgres-address.ts'

/** Whether {@link requireOwnSessions} threw it because sessions are shared. */
export function areSessionsShared(error: unknown): error is Error {
  return codeOf(error) === 'POSTGRES_SESSIONS_SHARED'
}

const timeoutMs = 5_000
/** An idle pooler is found out in the first round. Under load each round is another chance. */
const rounds = 4

/**
 * Throws POSTGRES_SESSIONS_SHARED unless a connection has a server process of its own for as long as it
 * lives; pg's error where that cannot be seen.
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
  // Lost between two statements, which say so too: unheard it would end the process.
  client.on('error', () => undefined)
  return client
}

/**
 * Two clients ask in turn, and never at once. A pooler that hands out the process used last gives both the
 * same. One that hands out the process unused for longest gives the second of two questions in a row another
 * process than the first.
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
