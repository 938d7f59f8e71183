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
    { ...dependencies, statementTimeoutMs: 1_000 },
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
}, 60_000)

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
