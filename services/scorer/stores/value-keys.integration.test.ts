import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createLog } from '#runtime/log.ts'
import { createSealer, type Sealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createScorerMetrics } from '../scorer-metrics.ts'
import { createValueKeys } from './value-keys.ts'

let database: TestDatabase
let pool: pg.Pool
const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }])
const log = createLog('test', 'silent')

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 8 })
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

async function addProject(): Promise<string> {
  const id = newId('project')
  await pool.query(`insert into projects (id, name, created_at) values ($1, 'p', now())`, [idToUuid(id)])
  return id
}

const metrics = createScorerMetrics(createMetrics())
const unreadable = async () => (await metrics.unhashedValues.get()).values[0]?.value ?? 0
const keysOf = (by: Sealer = sealer) =>
  createValueKeys({ pool, sealer: by, clock: systemClock, log, metrics })

test('processes that ask at once get one key, and each project its own', async () => {
  const [one, other] = [await addProject(), await addProject()]
  const keys = await Promise.all(Array.from({ length: 8 }, () => keysOf().of(one)))
  expect(new Set(keys.map((key) => key?.toString('hex'))).size).toBe(1)
  expect(keys[0]).toHaveLength(32)
  expect((await keysOf().of(other))?.equals(keys[0] ?? Buffer.alloc(0))).toBe(false)
})

test('a key that no configured key opens is none, and says so', async () => {
  const projectId = await addProject()
  await keysOf().of(projectId)
  const before = await unreadable()
  expect(await keysOf(createSealer([])).of(projectId)).toBeNull()
  expect(await unreadable()).toBe(before + 1)
})

test('a deleted project has none; while Postgres is away nothing is remembered', async () => {
  expect(await keysOf().of(newId('project'))).toBeNull()
  const projectId = await addProject()
  let isAway = true
  const breakable = {
    query: (...given: unknown[]) =>
      isAway
        ? Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))
        : (pool.query as (...values: unknown[]) => unknown)(...given),
  } as unknown as pg.Pool
  const keys = createValueKeys({
    pool: breakable,
    sealer,
    clock: systemClock,
    log,
    metrics,
  })
  await expect(keys.of(projectId)).rejects.toMatchObject({ retry: 'later' })
  isAway = false
  expect(await keys.of(projectId)).toHaveLength(32)
})
