import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { TransientError } from '#runtime/errors.ts'
import type { Batch, BatchHandler } from '#runtime/kafka/records.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createCallHandler } from './handle-calls.ts'
import { createCallStore } from './stores/call-store.ts'
import { createDayPartitions } from './stores/day-partitions.ts'
import { createRollupStore } from './stores/rollup-store.ts'
import { sampleCall } from './testing/sample-records.ts'

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

/**
 * A sink's handler whose jobs go to an array, or nowhere when `publish` fails: what a crash before the
 * acknowledgement looks like.
 */
function createHandler(publish: () => Promise<void> = () => Promise.resolve()) {
  const jobs: string[] = []
  const handler: BatchHandler<LoggedCall> = createCallHandler({
    kindOf: () => 'kept',
    partitions: createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 }),
    calls: createCallStore(pool, createRollupStore()),
    publishJobs: async (made) => {
      await publish()
      jobs.push(...made.map(({ request_id }) => request_id))
    },
    onEvents: () => undefined,
    clock: systemClock,
    log: createLog('test', 'silent'),
    metrics: createMetrics(),
  })
  const handle = (batch: Batch<LoggedCall>) => handler(batch, new AbortController().signal)
  return { handle, jobs }
}

function batchOf(
  calls: readonly LoggedCall[],
  firstOffset: number,
  topic: string,
  cluster = 'c1',
): Batch<LoggedCall> {
  const records = calls.map((value, index) => ({
    topic,
    partition: 0,
    offset: BigInt(firstOffset + index),
    key: value.id,
    value,
    headers: {},
    timestampMs: 0,
  }))
  return {
    records,
    position: { cluster, topic, partition: 0, nextOffset: BigInt(firstOffset + calls.length) },
  }
}

const projectId = newId('project')
const calls = (count: number) => Array.from({ length: count }, () => sampleCall(projectId))
const idsOf = (list: readonly LoggedCall[]) => list.map(({ id }) => id)
const storedCount = async (list: readonly LoggedCall[]) =>
  (await pool.query('select from llm_requests where id = any ($1)', [idsOf(list).map(idToUuid)])).rowCount

test('a batch that was stored before a crash and never queued is queued when it is delivered again', async () => {
  const batch = batchOf(calls(5), 0, 'crash')
  const crashing = createHandler(() => Promise.reject(new TransientError('KAFKA_UNAVAILABLE', 'away')))
  await expect(crashing.handle(batch)).rejects.toMatchObject({ code: 'KAFKA_UNAVAILABLE' })
  const restarted = createHandler()
  await restarted.handle(batch)
  expect(restarted.jobs).toEqual(batch.records.map(({ value }) => value.id))
})

test('a redelivery cut at another place queues what was stored and what was not', async () => {
  const all = calls(6)
  const crashing = createHandler(() => Promise.reject(new TransientError('KAFKA_UNAVAILABLE', 'away')))
  await expect(crashing.handle(batchOf(all.slice(0, 3), 10, 'cut'))).rejects.toThrow('away')
  const restarted = createHandler()
  await restarted.handle(batchOf(all, 10, 'cut'))
  expect(restarted.jobs).toEqual(idsOf(all))
})

test('a resend behind the position is not queued, before and after a crash of its own', async () => {
  const all = calls(4)
  const sink = createHandler()
  await sink.handle(batchOf(all, 0, 'resend'))
  await sink.handle(batchOf(all, 4, 'resend'))
  expect(sink.jobs).toEqual(idsOf(all))
})

test('a recreated topic starts at offset 0 below the position: its new calls are stored and queued', async () => {
  const sink = createHandler()
  await sink.handle(batchOf(calls(20), 0, 'recreated'))
  const fresh = calls(5)
  await sink.handle(batchOf(fresh, 0, 'recreated'))
  expect(sink.jobs.slice(20)).toEqual(idsOf(fresh))
  const { rows } = await pool.query(`select next_offset from sink_positions where topic = 'recreated'`)
  expect(rows).toEqual([{ next_offset: '20' }])
  // On another cluster a position of its own says that these are resends.
  const elsewhere = createHandler()
  await elsewhere.handle(batchOf(fresh, 0, 'recreated', 'c2'))
  expect(elsewhere.jobs).toEqual([])
})

test('two sinks that work on the same batch at once store each call once and lose no job', async () => {
  for (let round = 0; round < 10; round++) {
    const list = calls(50)
    const batch = batchOf(list, round * 50, 'shared')
    const [one, other] = [createHandler(), createHandler()]
    await Promise.all([one.handle(batch), other.handle(batch)])
    expect(await storedCount(list)).toBe(50)
    expect(new Set([...one.jobs, ...other.jobs])).toEqual(new Set(idsOf(list)))
  }
})

test('the one that dies of two such sinks takes no job with it', async () => {
  for (let round = 0; round < 10; round++) {
    const list = calls(20)
    const batch = batchOf(list, round * 20, 'shared-crash')
    const dying = createHandler(() => Promise.reject(new TransientError('KAFKA_UNAVAILABLE', 'killed')))
    const living = createHandler()
    await Promise.allSettled([dying.handle(batch), living.handle(batch)])
    // Anyone who was second saw the other's rows: below the position, so they are queued.
    expect(living.jobs).toEqual(idsOf(list))
  }
})

test('sinks whose batches hold the same calls in different orders do not deadlock', async () => {
  const list = calls(300)
  const sinks = [0, 1, 2, 3].map(() => createHandler())
  await Promise.all(
    sinks.map(({ handle }, index) =>
      handle(batchOf(index % 2 === 0 ? list : list.toReversed(), 0, `order-${index}`)),
    ),
  )
  expect(await storedCount(list)).toBe(300)
  expect(sinks.flatMap(({ jobs }) => jobs).toSorted()).toEqual(idsOf(list).toSorted())
})
