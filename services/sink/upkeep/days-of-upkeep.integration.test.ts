import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { idToUuid, liveRunId, newId, scoreId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { promoteCalls } from '../runs/promote-runs.ts'
import { findLostClaims } from '../stores/claim-store.ts'
import { eraseCalls } from '../stores/erase-calls.ts'
import { nextCalls } from '../stores/replay-store.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { lockRun, type ScoreRun } from '../stores/run-store.ts'
import { createErasingFixture } from '../testing/erasing-fixture.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'

const dayMs = 86_400_000
const middayMs = Math.floor(Date.now() / dayMs) * dayMs - 1.5 * dayMs
const nameOf = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')
let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 2 })
  for (const ago of [-1, 0, 1, 2, 20, 21])
    await pool.query('select ensure_day_partitions($1::date)', [new Date(middayMs - ago * dayMs)])
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

/**
 * Of which days `work` has locked partitions: with their indexes some twenty locks each, of the 6,400 that
 * all transactions share.
 */
function daysLockedBy(work: (client: pg.PoolClient) => Promise<void>): Promise<string[]> {
  return inTransaction(pool, async (client) => {
    await work(client)
    const { rows } = await client.query<{ day: string }>(
      `select distinct right(c.relname, 8) as day from pg_locks join pg_class c on c.oid = relation
       where pid = pg_backend_pid() and c.relkind = 'r' and c.relname ~ '_\\d{8}$' order by 1`,
    )
    return rows.map(({ day }) => day)
  })
}

test('replays, promotions, claims and erasures lock the partitions of their days, not of every day', async () => {
  const fixture = createErasingFixture(pool)
  const projectId = await fixture.addProject()
  const [project, runId] = [idToUuid(projectId), newId('run')]
  const call = sampleCall(projectId, { id: newId('request', middayMs) })
  const storage = createCallStorage(pool)
  await storage.calls([call])
  for (const run of [liveRunId(projectId), runId]) {
    const id = scoreId(projectId, call.id, 'pii_detection', run)
    await storage.scores([
      sampleScoredCall(call, { run_id: run, scores: [sampleScore(projectId, call.id, { id })] }),
    ])
  }
  await pool.query(
    `insert into score_runs (id, project_id, start_at, end_at, source, alert, status, calls_total, created_at)
     values ($1, $2, $3, $4, 'postgres', false, 'promoting', 1, now())`,
    [idToUuid(runId), project, new Date(middayMs - 1), new Date(middayMs + 1)],
  )
  const locked = {
    fed: await daysLockedBy(async (client) => {
      const calls = await nextCalls(client, await runOf(client), project, { maxCalls: 9, maxBytes: 1e6 })
      expect(calls).toHaveLength(1)
    }),
    promoted: await daysLockedBy(async (client) => {
      const promotion = { rollups: createRollupStore(), clock: systemClock }
      expect(await promoteCalls(client, await runOf(client), promotion)).toBe(true)
    }),
    claims: await daysLockedBy(async (client) => {
      await findLostClaims(client, new Date(middayMs), new Date(middayMs + 1), 10)
    }),
    erased: await daysLockedBy(async (client) => {
      const id = newId('erasure')
      const asked = { scope: 'request', subject: idToUuid(call.id), requested_at: new Date() } as const
      await client.query(
        `insert into erasures (id, project_id, scope, subject, requested_at, requested_by, kept_in_kafka_until)
         values ($1, $2, 'request', $3, now(), 'key', now())`,
        [idToUuid(id), project, asked.subject],
      )
      const erasure = { id: idToUuid(id), project_id: project, settled: null, ...asked }
      expect(await eraseCalls(client, createRollupStore(), erasure, 10)).toBe(1)
    }),
  }
  const own = nameOf(middayMs)
  const [dayBefore, dayBehind] = [nameOf(middayMs - dayMs), nameOf(middayMs + dayMs)]
  const claims = [nameOf(middayMs - 2 * dayMs), dayBefore, own, dayBehind]
  expect(locked).toEqual({ fed: [own], promoted: [own], claims, erased: [own] })
})

async function runOf(client: pg.PoolClient): Promise<ScoreRun> {
  const run = await lockRun(client, ['promoting'])
  if (run === undefined) throw new Error('there is no run')
  return run
}
