import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createDayPartitions, dayOf } from './day-partitions.ts'

const dayMs = 86_400_000
let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 8 })
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

const partitionsOf = async (day: string) => {
  const { rows } = await pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhrelid::regclass::text like $1 order by 1`,
    [`%\\_${day.replaceAll('-', '')}`],
  )
  return rows.map(({ name }) => name)
}

test('sinks that start together make each day once, with all its tables', async () => {
  const days = Array.from({ length: 6 }, (_, index) => dayOf(systemClock.now() + index * dayMs))
  const sinks = Array.from({ length: 8 }, () =>
    createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 }),
  )
  await Promise.all(
    sinks.map(async (partitions) => {
      for (const day of days) await partitions.make(day)
    }),
  )
  for (const day of days) expect(await partitionsOf(day)).toHaveLength(5)
})

test('only days near enough to now are given partitions; older ones are written to while they have theirs', async () => {
  const now = Date.UTC(2026, 2, 10, 12)
  const clock = { ...systemClock, now: () => now }
  const partitions = createDayPartitions({ pool, clock, maxAgeDays: 35 })
  const days = [-400, -36, -35, 0, 1, 2].map((offset) => dayOf(now + offset * dayMs))
  const [longAgo, tooOld, oldest, today, tomorrow, tooNew] = days as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  expect([...(await partitions.writable(new Set(days)))]).toEqual([oldest, today, tomorrow])
  await pool.query('select ensure_day_partitions($1)', [longAgo])
  expect([...(await partitions.writable(new Set(days)))]).toEqual([longAgo, oldest, today, tomorrow])
  expect(await partitionsOf(tooOld)).toEqual([])
  expect(await partitionsOf(tooNew)).toEqual([])
})
