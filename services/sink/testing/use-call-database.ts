import { afterAll, beforeAll } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createDayPartitions, dayOf } from '../stores/day-partitions.ts'

const dayMs = 86_400_000

/** A database of the test file's own with partitions for these days, counted from today. */
export function useCallDatabase({ days = [0, 1], max = 2 } = {}) {
  let database: TestDatabase
  let pool: pg.Pool

  beforeAll(async () => {
    database = await createTestDatabase()
    pool = new pg.Pool({ connectionString: database.url, max })
    const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
    for (const day of days) await partitions.make(dayOf(Date.now() + day * dayMs))
  })

  afterAll(async () => {
    await pool.end()
    await database.drop()
  })

  /** A project that counts calls by these metadata keys. */
  async function addProject(keys: string[] = []): Promise<string> {
    const id = newId('project')
    await pool.query(
      `insert into projects (id, name, created_at, metadata_keys) values ($1, 'a project', now(), $2)`,
      [idToUuid(id), JSON.stringify(keys.map((name) => ({ name, counted_from: '2026-01-01T00:00:00Z' })))],
    )
    return id
  }

  return { pool: () => pool, addProject }
}
