import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import pg from 'pg'
import { inTransaction } from '#runtime/postgres.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createOutbox, deletePublished } from './outbox-store.ts'

let database: TestDatabase
let pool: pg.Pool
let projectId: string

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({
    connectionString: database.url,
    max: 3,
    // Who waits for a row that another relay holds fails.
    lock_timeout: 2_000,
    // The index has them in their order, asked for or not.
    options: '-c enable_indexscan=off -c enable_bitmapscan=off',
  })
  projectId = newId('project')
  await pool.query(`insert into projects (id, name, created_at) values ($1, 'p', now())`, [
    idToUuid(projectId),
  ])
})

beforeEach(() => pool.query('truncate event_outbox'))

afterAll(async () => {
  await pool.end()
  await database.drop()
})

/** Of 100 bytes each. Returns their identifiers, the oldest first. */
async function addEvents(count: number, publishedDaysAgo: number | null = null): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('event'))
  for (const id of ids)
    await pool.query(
      `insert into event_outbox (id, event, project_id, created_at, data, published_at)
       values ($1, 'usage_alert', $2, now() - interval '30 days', $3, now() - make_interval(days => $4))`,
      [idToUuid(id), idToUuid(projectId), Buffer.alloc(100), publishedDaysAgo],
    )
  return ids
}

const take = async (maxRows: number, maxBytes: number, meanwhile?: () => Promise<unknown>) => {
  const rows = await createOutbox(pool).publishOldest({ maxRows, maxBytes }, async () => {
    await meanwhile?.()
  })
  return rows.map(({ event }) => event.id)
}

test('the oldest events go first, wherever they lie; what another relay holds is passed over', async () => {
  const [first = '', ...others] = await addEvents(5)
  // Written again it lies behind the others.
  await pool.query('update event_outbox set data = data where id = $1', [idToUuid(first)])
  let second: string[] = []
  const taken = await take(2, 1_000, async () => {
    second = await take(2, 1_000)
  })
  expect([taken, second]).toEqual([
    [first, others[0]],
    [others[1], others[2]],
  ])
  expect(await take(2, 1_000)).toEqual([others[3]])
})

test.each([
  [200, 2],
  [201, 3],
  [1, 1],
])('at %i bytes no further ones are taken: %i of 100 bytes each', async (maxBytes, count) => {
  const ids = await addEvents(4)
  expect(await take(10, maxBytes)).toEqual(ids.slice(0, count))
})

test('what could not be published waits on', async () => {
  const ids = await addEvents(2)
  await expect(take(10, 1_000, () => Promise.reject(new Error('Kafka is away')))).rejects.toThrow('away')
  expect(await take(10, 1_000)).toEqual(ids)
  expect(await take(10, 1_000)).toEqual([])
})

test('events are deleted by the day of their publishing; old ones that still wait stay', async () => {
  const waiting = await addEvents(2)
  await addEvents(3, 8)
  await addEvents(1, 6)
  expect(await inTransaction(pool, (client) => deletePublished(client, 7))).toBe(3)
  expect(await take(10, 1_000)).toEqual(waiting)
})
