import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { newId } from '#schemas/ids.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { createErasingFixture } from '../testing/erasing-fixture.ts'
import { sampleCall, sampleScoredCall } from '../testing/sample-records.ts'
import { allDayTables } from './retention-store.ts'
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
  for (const day of days) expect(await partitionsOf(day)).toHaveLength(allDayTables.length)
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

/**
 * With a score, and what is kept with either: rows that have lost their peer must not keep the table from
 * coming back.
 */
async function insertCall(day: string): Promise<void> {
  const projectId = await createErasingFixture(pool).addProject()
  const call = sampleCall(projectId, { id: newId('request', Date.parse(`${day}T12:00Z`)) })
  const storage = createCallStorage(pool)
  await storage.calls([call])
  await storage.scores([sampleScoredCall(call)])
}

test.each([
  ['scores, with the key of their details', 'drop table safety_scores_20300105 cascade'],
  ['calls, with the keys of all others', 'drop table llm_requests_20300105 cascade'],
  [
    'bodies, which are detached only',
    'alter table llm_request_bodies detach partition llm_request_bodies_20300105',
  ],
  [
    'calls, and those of what belongs to them detached',
    `drop table llm_requests_20300105 cascade;
     alter table llm_request_bodies detach partition llm_request_bodies_20300105;
     alter table safety_scores detach partition safety_scores_20300105;
     alter table request_verdicts detach partition request_verdicts_20300105`,
  ],
  [
    'scores, and that of their details detached',
    `drop table safety_scores_20300105 cascade;
     alter table safety_score_details detach partition safety_score_details_20300105`,
  ],
])('a day that lacks the table of %s gets it back', async (_name, loss) => {
  const day = '2030-01-05'
  // One that runs on, as sinks do.
  const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
  const make = () => partitions.make(day)
  const shape = async () => {
    const { rows } = await pool.query<{ shape: string }>(
      `select conrelid::regclass || ' ' || regexp_replace(pg_get_constraintdef(oid), ' NOT VALID$', '') as shape from pg_constraint
       where conrelid::regclass::text like '%_20300105' and contype in ('p', 'f') order by 1`,
    )
    return rows.map((row) => row.shape)
  }
  await make()
  const whole = await shape()
  await insertCall(day)
  await pool.query(loss)
  expect((await partitionsOf(day)).length).toBeLessThan(allDayTables.length)
  await make()
  expect(await partitionsOf(day)).toHaveLength(allDayTables.length)
  expect(await shape()).toEqual(whole)
})
