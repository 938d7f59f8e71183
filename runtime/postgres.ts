import pg from 'pg'
import type { PostgresConfig } from './config.ts'
import { codeOf, messageOf, TransientError } from './errors.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { networkCodes } from './network-codes.ts'
import { requireOwnSessions } from './own-sessions.ts'
import { connectionOf, type PostgresAddress } from './postgres-address.ts'

export interface PoolDependencies {
  log: Log
  metrics: Metrics
  /** Shown in pg_stat_activity. */
  applicationName: string
  /** Longer statements are cancelled. */
  statementTimeoutMs?: number
  /** The role that connections take, under row-level security. Absent: the login's own rights. */
  role?: string
  /**
   * For statements that find rows by key: no plan may scan a whole table. A plan cached while the table was
   * small would, and slow down with growth until Postgres updates its statistics.
   */
  readsByKey?: boolean
  /**
   * For statements whose answer somebody waits for: no parallel workers and no JIT, which take longer than
   * the statement where Postgres misjudges it (10 ms to find a hundred deliveries of a million; 2 cores).
   */
  answersAtOnce?: boolean
}

/** Postgres reports a cancelled statement within this time, unless the connection is dead. */
const answerGraceMs = 5_000

/** A pool that survives lost connections. Its owner ends it. */
export function createPool(
  config: PostgresAddress & Pick<PostgresConfig, 'DATABASE_POOL_SIZE'>,
  dependencies: PoolDependencies,
): pg.Pool {
  const { role, statementTimeoutMs = 30_000 } = dependencies
  const preparing = { ...dependencies, statementTimeoutMs }
  let ownSessions: Promise<void> | undefined
  /** The role is taken per connection: Postgres may be away when the service starts. */
  const prepare = async (client: pg.ClientBase) => {
    if (role !== undefined)
      await (ownSessions ??= requireOwnSessions(config).catch((error: unknown) => {
        ownSessions = undefined
        throw error
      }))
    await prepareConnection(client, preparing)
  }
  const pool = new pg.Pool({
    ...connectionOf(config),
    max: config.DATABASE_POOL_SIZE,
    application_name: dependencies.applicationName,
    connectionTimeoutMillis: 5_000,
    // Detects dead connections. The kernel notices an idle one within half a minute instead of two hours; one
    // with a statement under way takes a quarter of an hour, so callers have their own timeout.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: statementTimeoutMs + answerGraceMs,
    // The pool waits for this promise before it hands out the connection, which the option's type omits.
    onConnect: (client): unknown => prepare(client),
  })
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', (error) => dependencies.log.warn({ err: error }, 'lost an idle Postgres connection'))
  const connections = dependencies.metrics.gauge(
    'sluice_postgres_connections',
    'Postgres connections by role and state',
    ['role', 'state'],
  )
  const report = () => {
    connections.set({ role: role ?? 'login', state: 'open' }, pool.totalCount)
    connections.set({ role: role ?? 'login', state: 'idle' }, pool.idleCount)
    connections.set({ role: role ?? 'login', state: 'waited_for' }, pool.waitingCount)
  }
  for (const event of ['acquire', 'release', 'remove'] as const) pool.on(event, report)
  return pool
}

/**
 * Makes Postgres drop a client whose host vanished. The kernel would wait two hours, and the client's
 * transaction would keep its locks that long: a partition's position, outbox rows, the election of a sweeper.
 * Silence is noticed within a minute, also while Postgres sends an answer or receives rows, which no
 * statement timeout ends. A live client waits less than three minutes in a transaction: it reads a page of
 * history from Kafka and publishes it, 60 s and 20 s at most.
 */
export const giveUpSilentClients = `set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3;
  set tcp_user_timeout = 60000; set idle_in_transaction_session_timeout = '3min'`

/**
 * By statements, because PgBouncer refuses `statement_timeout` as a startup parameter. One round trip; the
 * role takes another.
 */
async function prepareConnection(
  client: pg.ClientBase,
  settled: Pick<PoolDependencies, 'role' | 'readsByKey' | 'answersAtOnce'> & { statementTimeoutMs: number },
): Promise<void> {
  const settings = [`set statement_timeout = ${settled.statementTimeoutMs}`, giveUpSilentClients]
  if (settled.answersAtOnce === true) settings.push('set max_parallel_workers_per_gather = 0; set jit = off')
  if (settled.readsByKey === true) settings.push('set enable_seqscan = off')
  await client.query(settings.join('; '))
  if (settled.role !== undefined) await takeRole(client, settled.role)
}

/**
 * Set by statement on every new connection, because poolers silently drop startup options. Refuses a role
 * that row-level security does not bind, so that a wrong grant is noticed.
 */
async function takeRole(client: pg.ClientBase, role: string): Promise<void> {
  await client.query(`set role ${pg.escapeIdentifier(role)}`)
  const { rows } = await client.query<{ bypasses: boolean }>(
    'select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user',
  )
  if (rows[0]?.bypasses !== false) throw new Error(`the role ${role} is not held by row-level security`)
}

/** A statement that each connection parses and plans once, under a unique name. */
export interface PreparedStatement {
  name: string
  text: string
}

/** Runs one statement; throws as `classifyPostgresError` says. */
export async function query<R extends pg.QueryResultRow>(
  pool: pg.Pool | pg.PoolClient,
  statement: string | PreparedStatement,
  values: readonly unknown[] = [],
): Promise<pg.QueryResult<R>> {
  const config = typeof statement === 'string' ? { text: statement } : statement
  try {
    return await pool.query<R>({ ...config, values: [...values] })
  } catch (error) {
    throw classifyPostgresError(error)
  }
}

/**
 * Runs `work` in one transaction: commits when it resolves, rolls back when it rejects. Throws as
 * `classifyPostgresError` says. `begin` may set parameters for this transaction alone.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  begin = 'begin',
): Promise<T> {
  let client: pg.PoolClient | undefined
  let broken: Error | undefined
  const noteLoss = (error: Error) => (broken = error)
  try {
    client = await pool.connect()
    // The pool does not listen to a checked-out client, and an unhandled 'error' would end the process.
    client.on('error', noteLoss)
    await client.query(begin)
    const value = await work(client)
    await client.query('commit')
    return value
  } catch (error) {
    broken ??= client === undefined ? undefined : isUnanswered(error) ? error : await rollBack(client)
    throw classifyPostgresError(error)
  } finally {
    client?.removeListener('error', noteLoss)
    client?.release(broken)
  }
}

/**
 * pg's message for `query_timeout`. The statement is still under way, so this connection stays blocked until
 * its end.
 */
const unanswered = 'Query read timeout'

function isUnanswered(error: unknown): error is Error {
  return Error.isError(error) && error.message.endsWith(unanswered)
}

/** Returns the error that makes the connection unusable, if any. */
async function rollBack(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('rollback')
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error))
  }
}

// Appendix A of the Postgres manual: 08 connection, 53 insufficient resources, 57P0x shutdown, 40001
// serialization, 40P01 deadlock, 55P03 lock not available, 57014 cancelled by a timeout, 25006 read-only
// after a fail-over, 25P03 idle too long in a transaction, 58 system error, 28 refused login: a changed
// password reaches the services a little later.
const transientStates = /^(08...|28...|53...|57P0[1-5]|40001|40P01|55P03|57014|25006|25P03|58...)$/
// pg gives these no code.
const transientMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|connection timeout|Query read timeout/i

/** TransientError `POSTGRES_UNAVAILABLE` for what passes by itself; any other error unchanged. */
export function classifyPostgresError(error: unknown): unknown {
  // Not `instanceof`: under jest, errors of Node's sockets belong to another realm.
  if (!Error.isError(error)) return error
  const code = codeOf(error)
  // A host with several addresses fails with one error for each.
  const causes: unknown[] = error instanceof AggregateError ? error.errors : []
  const transient =
    networkCodes.has(code) ||
    transientStates.test(code) ||
    transientMessages.test(error.message) ||
    causes.some((cause) => classifyPostgresError(cause) instanceof TransientError)
  return transient
    ? new TransientError('POSTGRES_UNAVAILABLE', `Postgres: ${error.message || code}`, { cause: error })
    : error
}
