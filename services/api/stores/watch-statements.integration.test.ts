import { afterAll, expect, test } from '@jest/globals'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createPool, query } from '#runtime/postgres.ts'
import { currentRoute } from '#http/route.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { createWatchStatements } from './watch-statements.ts'

const lines: Record<string, unknown>[] = []
const metrics = createMetrics()
const watchWith = (slowMs: number) =>
  createWatchStatements({
    log: pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
    metrics: slowMs === 0 ? metrics : createMetrics(),
    slowMs,
  })

const pools: Pool[] = []

afterAll(() => Promise.all(pools.map((pool) => pool.end())))

function connect(statementTimeoutMs: number): Pool {
  const { postgresUrl } = testInfrastructure()
  const own = { log: createLog('test', 'silent'), metrics, applicationName: 'test', statementTimeoutMs }
  const pool = createPool({ DATABASE_URL: postgresUrl, DATABASE_POOL_SIZE: 1 }, own)
  pools.push(pool)
  return pool
}

test('what takes Postgres too long is cancelled, answered with 503, and logged with its route and without its values', async () => {
  const pool = connect(200)
  const text = 'select pg_sleep($1),\n  $2::text'
  const asked = currentRoute.run('/api/requests', () =>
    watchWith(0)(text, () => query(pool, text, [3_600, 'said in confidence'])),
  )
  await expect(asked).rejects.toMatchObject({
    status: 503,
    code: 'QUERY_TOO_SLOW',
    headers: { 'retry-after': '5' },
  })
  expect(lines).toEqual([
    expect.objectContaining({
      msg: 'slow query',
      route: '/api/requests',
      statement: 'select pg_sleep($1), $2::text',
    }),
  ])
  expect(JSON.stringify(lines)).not.toContain('confidence')
  expect(await metrics.registry.metrics()).toContain(
    'sluice_api_statement_duration_seconds_count{route="/api/requests"} 1',
  )
})

test('what does not is answered and not logged; other failures stay what they are', async () => {
  lines.length = 0
  const pool = connect(60_000)
  const { rows } = await watchWith(3_600_000)('select 1', () => query(pool, 'select 1 as one'))
  expect(rows).toEqual([{ one: 1 }])
  const refused = watchWith(3_600_000)('select', () => query(pool, 'select no_such_column'))
  await expect(refused).rejects.toMatchObject({ code: '42703' })
  expect(lines).toEqual([])
})
