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
  /** A statement that takes longer is cancelled. */
  statementTimeoutMs?: number
  /** The role that connections take, which row-level security holds. Absent: the login's own rights. */
  role?: string
  /**
   * Its statements find rows by key, so no plan of them reads a whole table: one that was made and kept while a table was small did, and
   * took the longer the larger the table grew, until Postgres had counted it.
   */
  readsByKey?: boolean
  /**
   * Somebody waits for what its statements answer: none starts other processes or is compiled, which where Postgres guesses badly takes longer
   * than the statement (10 ms to find a hundred deliveries of a million; 2 cores).
   */
  answersAtOnce?: boolean
}

/** Postgres has cancelled a statement for its time and said so before this is over, unless it cannot be heard. */
const answerGraceMs = 5_000

/** A pool that outlives the loss of its connections. Its owner ends it. */
export function createPool(
  config: PostgresAddress & Pick<PostgresConfig, 'DATABASE_POOL_SIZE'>,
  dependencies: PoolDependencies,
): pg.Pool {
  const { role, statementTimeoutMs = 30_000 } = dependencies
  const preparing = { ...dependencies, statementTimeoutMs }
  let ownSessions: Promise<void> | undefined
  /** Whoever takes a role asks once: at the service's start Postgres may have been away. */
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
    // A connection that died without a word: of an idle one the kernel learns it within half a minute instead of two hours; of one that has sent a
    // statement it says so after a quarter of an hour, so that whoever waits for an answer counts the time himself.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: statementTimeoutMs + answerGraceMs,
    // The pool hands a connection out once this promise resolves, which the type of the option does not say.
    onConnect: (client): unknown => prepare(client),
  })
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', (error) => dependencies.log.warn({ err: error }, 'an idle Postgres connection was lost'))
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
 * What makes Postgres give up a client whose host is gone without a word. The kernel would wait two hours for it, and so long its transaction would keep its
 * locks: a partition's position, rows of the outbox, the election of who sweeps. Silence is noticed within a minute, also of a client
 * that was being answered or that was sending rows (which no statement's time ends). Whoever lives waits less than three minutes within a
 * transaction: a page of history is read from Kafka in one, then published from, 60 s and 20 s at most.
 */
export const giveUpSilentClients = `set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3;
  set tcp_user_timeout = 60000; set idle_in_transaction_session_timeout = '3min'`

/**
 * By statements: PgBouncer refuses a connection that brings `statement_timeout` along. In one round trip; the
 * role has another.
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
 * Said on every new connection instead of among its options, because poolers between us and Postgres drop those without a word. A
 * role that row-level security does not hold is refused, so that no mistake in the grants goes unnoticed.
 */
async function takeRole(client: pg.ClientBase, role: string): Promise<void> {
  await client.query(`set role ${pg.escapeIdentifier(role)}`)
  const { rows } = await client.query<{ bypasses: boolean }>(
    'select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user',
  )
  if (rows[0]?.bypasses !== false) throw new Error(`the role ${role} is not held by row-level security`)
}

/** A statement that each connection has parsed and planned once, under a name that no other statement has. */
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
 * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Throws as `classifyPostgresError` says.
 * `begin` may set what holds for this transaction alone.
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
    // While a client is checked out the pool does not listen, and an unheard 'error' would end the process.
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

/** pg's words for `query_timeout`. Its statement is still under way: on this connection nothing is heard before its end. */
const unanswered = 'Query read timeout'

function isUnanswered(error: unknown): error is Error {
  return Error.isError(error) && error.message.endsWith(unanswered)
}

/** Returns the error that makes the connection unusable, if there is one. */
async function rollBack(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('rollback')
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error))
  }
}

// Appendix A of the Postgres manual: 08 connection, 53 insufficient resources, 57P0x shutdown, 40001 serialization, 40P01 deadlock,
// 55P03 lock not available, 57014 cancelled by a timeout, 25006 read-only after a fail-over, 25P03 idle too long in a transaction, 58 system error,
// 28 a login that is refused: where a password is changed it comes to the services a little later, and what they do meanwhile is no defect.
const transientStates = /^(08...|28...|53...|57P0[1-5]|40001|40P01|55P03|57014|25006|25P03|58...)$/
// pg gives these no code.
const transientMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|connection timeout|Query read timeout/i

/** TransientError `POSTGRES_UNAVAILABLE` for what passes by itself; anything else as it is. */
export function classifyPostgresError(error: unknown): unknown {
  // Not by `instanceof`: in tests what Node's own sockets throw is of another realm.
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
