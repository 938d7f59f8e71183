import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { createTestDatabase } from '#tests/support/infrastructure.ts'
import { parseConfig, postgresFields } from './config.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { createPool } from './postgres.ts'

test('Postgres by its parts is the same as by its address', async () => {
  const database = await createTestDatabase()
  const { hostname, port, pathname, username, password } = new URL(database.url)
  const parsed = parseConfig(z.object(postgresFields), {
    DATABASE_HOST: hostname,
    DATABASE_PORT: port,
    DATABASE_NAME: pathname.slice(1),
    DATABASE_USER: decodeURIComponent(username),
    DATABASE_PASSWORD: decodeURIComponent(password),
  })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const log = createLog('parts-test', 'silent')
  const pool = createPool(parsed.value, { log, metrics: createMetrics(), applicationName: 'parts-test' })
  try {
    const { rows } = await pool.query<{ name: string }>('select current_database() as name')
    expect(rows).toEqual([{ name: pathname.slice(1) }])
  } finally {
    await pool.end()
    await database.drop()
  }
})
