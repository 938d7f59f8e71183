import { afterAll, beforeAll } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createDayPartitions, dayOf } from '../stores/day-partitions.ts'
import { createErasingFixture } from './erasing-fixture.ts'

/** What a test file has while its tests run. */
interface Used {
  readonly database: TestDatabase
  readonly pool: pg.Pool
  readonly fixture: ReturnType<typeof createErasingFixture>
}

/**
 * A database of a file's own with tables for `days`, counted from today. Tomorrow is one of them too: it may
 * be late in the day.
 */
export function useErasingFixture(days: readonly number[] = [0, 1]): Used {
  const used = {} as { -readonly [Name in keyof Used]: Used[Name] }
  beforeAll(async () => {
    used.database = await createTestDatabase()
    used.pool = new pg.Pool({ connectionString: used.database.url, max: 6 })
    used.fixture = createErasingFixture(used.pool)
    const partitions = createDayPartitions({ pool: used.pool, clock: systemClock, maxAgeDays: 35 })
    for (const day of days) await partitions.make(dayOf(Date.now() + day * 86_400_000))
  })
  afterAll(async () => {
    await used.pool.end()
    await used.database.drop()
  })
  return used
}
