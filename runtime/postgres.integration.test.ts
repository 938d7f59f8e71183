import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Pool } from 'pg'
import { openLine, type CuttableLine } from '#tests/support/cuttable-line.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { createPool, inTransaction, query } from './postgres.ts'

let line: CuttableLine
let pool: Pool

beforeAll(async () => {
  line = await openLine(testInfrastructure().postgresUrl)
  const dependencies = { log: createLog('test', 'silent'), metrics: createMetrics(), applicationName: 'test' }
  pool = createPool(
    { DATABASE_URL: line.url, DATABASE_POOL_SIZE: 2 },
    { ...dependencies, statementTimeoutMs: 5_000 },
  )
})
afterAll(async () => {
  await pool.end()
  await line.close()
})

test('what a connection that died without a word was asked passes by itself, and nobody is given that connection again', async () => {
  const pidOf = () =>
    query<{ pid: number }>(pool, 'select pg_backend_pid() as pid').then(({ rows }) => rows[0]?.pid)
  const before = await Promise.all([pidOf(), pidOf()])
  const began = Promise.withResolvers<undefined>()
  const work = inTransaction(pool, async (client) => {
    await query(client, 'select 1')
    line.stall()
    began.resolve(undefined)
    await query(client, 'select 2')
  })
  await began.promise
  const unanswered = await Promise.allSettled([work, pidOf()])
  expect(unanswered).toMatchObject(
    Array(2).fill({ status: 'rejected', reason: { code: 'POSTGRES_UNAVAILABLE' } }),
  )
  line.mend()
  const after = await Promise.all([pidOf(), pidOf()])
  expect(after.filter((pid) => before.includes(pid))).toEqual([])
})

/** The one that another connection ends. */
const endBackend = (pid: number | undefined) => query(pool, 'select pg_terminate_backend($1, 5000)', [pid])
const pidOf = (client: Parameters<typeof query>[0]) =>
  query<{ pid: number }>(client, 'select pg_backend_pid() as pid').then(({ rows }) => rows[0]?.pid)

test('a transaction whose connection is lost between two statements passes by itself, and the process goes on', async () => {
  const work = inTransaction(pool, async (client) => {
    const lost = new Promise((resolve) => client.once('end', resolve))
    await endBackend(await pidOf(client))
    await lost
  })
  await expect(work).rejects.toMatchObject({ code: 'POSTGRES_UNAVAILABLE' })
  expect(await Promise.all([pidOf(pool), pidOf(pool)])).toHaveLength(2)
})

test('what fails leaves nothing behind on its connection, and a commit that is refused is a failure', async () => {
  const failing = inTransaction(pool, async (client) => {
    await query(
      client,
      'create temporary table left_behind (id integer unique deferrable initially deferred)',
    )
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  const isLeft = () =>
    query<{ name: unknown }>(pool, `select to_regclass('pg_temp.left_behind') as name`).then(
      ({ rows }) => rows[0]?.name,
    )
  expect(await Promise.all([isLeft(), isLeft()])).toEqual([null, null])
  const refused = inTransaction(pool, async (client) => {
    await query(
      client,
      'create temporary table left_behind (id integer unique deferrable initially deferred)',
    )
    await query(client, 'insert into left_behind values (1), (1)')
  })
  await expect(refused).rejects.toMatchObject({ code: '23505' })
})

test('Postgres gives up a client that is gone without a word within a minute, and one that does nothing in a transaction within three', async () => {
  const { rows } = await query<{ name: string; setting: string }>(
    pool,
    `select name, setting from pg_settings where name ~ '^tcp_' or name = 'idle_in_transaction_session_timeout' order by name`,
  )
  expect(rows.map(({ name, setting }) => `${name} ${setting}`)).toEqual([
    'idle_in_transaction_session_timeout 180000',
    'tcp_keepalives_count 3',
    'tcp_keepalives_idle 30',
    'tcp_keepalives_interval 10',
    'tcp_user_timeout 60000',
  ])
})
