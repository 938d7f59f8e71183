import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Client } from 'pg'
import { migrate } from '#infra/migrate.ts'
import { createTestDatabase, testInfrastructure, type TestDatabase } from '#tests/support/infrastructure.ts'
import { startPgBouncer } from '#tests/support/pgbouncer.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { requireOwnSessions } from './own-sessions.ts'
import { createPool, inTransaction, query } from './postgres.ts'
import { requireMigration } from './require-migration.ts'

const log = createLog('test', 'silent')
const shared = { code: 'POSTGRES_SESSIONS_SHARED' }
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** A pool of the API, as the service makes it. */
const poolAt = (url: string) =>
  createPool(
    { DATABASE_URL: url, DATABASE_POOL_SIZE: 3 },
    { log, metrics: createMetrics(), applicationName: 'test', role: 'sluice_api', statementTimeoutMs: 7_000 },
  )

/** What scripts/doctor and scripts/migrate say, and how they end. */
async function runScript(
  name: string,
  url: string,
  options: string[],
): Promise<{ code: number; output: string }> {
  const { brokers, registryUrl } = testInfrastructure()
  const env = {
    ...process.env,
    DATABASE_URL: url,
    KAFKA_BROKERS: brokers.join(),
    SCHEMA_REGISTRY_URL: registryUrl,
  }
  const script = join(import.meta.dirname, '..', 'scripts', name)
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...options], { env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), output: out + err }),
    )
  })
}

test('behind PgBouncer in session mode connections are made, limited in time and held by row-level security', async () => {
  const pooler = await startPgBouncer(database.url, { pool_mode: 'session' })
  const pool = poolAt(pooler.url)
  try {
    await requireMigration(newestMigration)({ DATABASE_URL: pooler.url }, log)
    const ask = () =>
      inTransaction(pool, (client) =>
        query(
          client,
          `select current_user, current_setting('statement_timeout') as longest, row_security_active('projects')`,
        ),
      )
    const answers = await Promise.all([ask(), ask(), ask()])
    expect(answers.flatMap(({ rows }) => rows)).toEqual(
      Array(3).fill({ current_user: 'sluice_api', longest: '7s', row_security_active: true }),
    )
    expect(await migrate(pooler.url)).toEqual({ applied: [], pending: [], newer: [] })
    expect((await runScript('doctor.ts', pooler.url, [])).output).toMatch(/OK +sessions +each connection/)
  } finally {
    await pool.end()
    await pooler.stop()
  }
})

test('Postgres itself gives each connection a session of its own', async () => {
  await requireOwnSessions({ DATABASE_URL: database.url })
})

describe.each([
  ['transaction mode', { pool_mode: 'transaction' }, 0],
  ['transaction mode with one server connection', { pool_mode: 'transaction', default_pool_size: '1' }, 0],
  [
    'transaction mode that takes the one unused for longest',
    { pool_mode: 'transaction', server_round_robin: '1' },
    0,
  ],
  ['the same with two server connections open', { pool_mode: 'transaction', server_round_robin: '1' }, 2],
  ['the same with three', { pool_mode: 'transaction', server_round_robin: '1' }, 3],
  ['transaction mode with three open', { pool_mode: 'transaction' }, 3],
  ['statement mode', { pool_mode: 'statement' }, 0],
])('behind PgBouncer in %s', (_name, settings, open) => {
  test('services, their pools, scripts/migrate and scripts/doctor refuse in a sentence', async () => {
    const pooler = await startPgBouncer(database.url, {
      ...settings,
      ignore_startup_parameters: 'statement_timeout',
    })
    const pool = poolAt(pooler.url)
    try {
      await openServers(pooler.url, open)
      await expect(requireOwnSessions({ DATABASE_URL: pooler.url })).rejects.toMatchObject(shared)
      await expect(
        requireMigration(newestMigration)({ DATABASE_URL: pooler.url }, log),
      ).rejects.toMatchObject(shared)
      await expect(query(pool, 'select')).rejects.toMatchObject(shared)
      await expect(migrate(pooler.url)).rejects.toMatchObject(shared)
    } finally {
      await pool.end()
      await pooler.stop()
    }
  })
})

test('a busy PgBouncer in transaction mode is found out all the same', async () => {
  const pooler = await startPgBouncer(database.url, { pool_mode: 'transaction' })
  const others = Array.from({ length: 6 }, () => new Client({ connectionString: pooler.url }))
  try {
    await Promise.all(others.map((client) => client.connect()))
    let busy = true
    const loads = others.map(async (client) => {
      while (busy) await client.query('select pg_sleep(0.001)')
    })
    const looks = Array.from({ length: 20 }, () => requireOwnSessions({ DATABASE_URL: pooler.url }))
    const outcomes = await Promise.allSettled(looks)
    busy = false
    await Promise.all(loads)
    expect(outcomes).toMatchObject(Array(20).fill({ status: 'rejected', reason: shared }))
  } finally {
    await Promise.all(others.map((client) => client.end()))
    await pooler.stop()
  }
})

/** So many transactions at once have the pooler open so many connections to Postgres. */
async function openServers(url: string, count: number): Promise<void> {
  const clients = Array.from({ length: count }, () => new Client({ connectionString: url }))
  for (const client of clients) await client.connect()
  for (const client of clients) await client.query('begin')
  for (const client of clients) await client.query('commit')
  for (const client of clients) await client.end()
}

test('scripts say it in a sentence', async () => {
  const pooler = await startPgBouncer(database.url, { pool_mode: 'transaction' })
  const sentence = 'DATABASE_URL leads through a pooler that shares sessions between clients'
  try {
    const migrated = await runScript('migrate.ts', pooler.url, ['--status'])
    expect(migrated).toMatchObject({ code: 2, output: expect.stringMatching(`^sluice: ${sentence}.*\n$`) })
    const examined = await runScript('doctor.ts', pooler.url, [])
    expect(examined.code).toBe(1)
    expect(examined.output).toMatch(new RegExp(`PROBLEM +sessions +${sentence}`))
  } finally {
    await pooler.stop()
  }
})
