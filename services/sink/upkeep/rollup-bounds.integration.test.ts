import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createCallStore } from '../stores/call-store.ts'
import { createDayPartitions, dayOf } from '../stores/day-partitions.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { callRollups, dayTableOf, toolRollups } from '../stores/rollup-tables.ts'
import { foldAll } from '../testing/fold-all.ts'
import { many, placeSample, sampleCall } from '../testing/sample-records.ts'

jest.setTimeout(300_000)

const hourMs = 3_600_000
let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 4 })
  const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
  for (const day of [-1, 0, 1]) await partitions.make(dayOf(Date.now() - day * 86_400_000))
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

/** The calls of a sink as it is after a start: it remembers nothing. */
const startStores = () => ({ calls: createCallStore(pool, createRollupStore()) })

async function addProject(): Promise<string> {
  const id = newId('project')
  await pool.query(
    `insert into projects (id, name, created_at, metadata_keys) values ($1, 'a project', now(), $2)`,
    [idToUuid(id), JSON.stringify([{ name: 'team', counted_from: '2026-01-01T00:00:00Z' }])],
  )
  return id
}

const positionOf = (partition: number, nextOffset: number) => ({
  cluster: 'c',
  topic: `t${partition}`,
  partition,
  nextOffset: BigInt(nextOffset),
})

const fold = (hoursLater: number) => foldAll(pool, hoursLater)

test('names that never end are counted together beyond a bound, apart for the red team, and none is missing', async () => {
  const projectId = await addProject()
  const takenMs = Date.now() - 3 * hourMs
  const flood = (source: string) =>
    many(500, (index) => sampleCall(projectId, { id: newId('request', takenMs), model: `m${index}`, source }))
  const known = sampleCall(projectId, { id: newId('request', takenMs), model: 'm1', cost_usd: 1e300 })
  const { calls } = startStores()
  const placed = [...flood('gateway'), ...flood('redteam')].map(placeSample)
  const stored = await calls.store(placed, positionOf(0, 1_000), 'kept')
  expect(stored.overflowCount).toBe(1_000 - callRollups.maxSeries)
  // A sink that starts over reads what has room of its own.
  const { overflowCount } = await startStores().calls.store(
    flood('gateway').map(placeSample),
    positionOf(0, 2_000),
    'kept',
  )
  expect(overflowCount).toBeGreaterThan(0)
  await startStores().calls.store([placeSample(known, 2_000)], positionOf(1, 1), 'kept')
  const bySource = `select source, sum(calls)::integer as calls, count(*)::integer <= $2 as bounded from call_rollups
    where project_id = $1 group by source order by 1`
  const expected = [
    { source: 'gateway', calls: 1_001, bounded: true },
    { source: 'redteam', calls: 500, bounded: true },
  ]
  const bound = callRollups.maxSeries + 2
  expect((await pool.query(bySource, [idToUuid(projectId), bound])).rows).toEqual(expected)
  await fold(0)
  expect((await pool.query(bySource, [idToUuid(projectId), bound])).rows).toEqual(expected)
  await fold(60)
  const byDay = bySource.replace('call_rollups', 'call_rollups_by_day')
  expect((await pool.query(byDay, [idToUuid(projectId), bound])).rows).toEqual(expected)
})

test('minutes have room for 1,000 series with labels, then for 300 without, and then for none', async () => {
  const projectId = await addProject()
  const atMs = Date.now() - hourMs
  const call = (index: number, model: string) =>
    sampleCall(projectId, {
      id: newId('request', atMs),
      model,
      tool_name: null,
      metadata: `{"team":"t${index}"}`,
    })
  const floods = [
    many(1_100, (index) => call(index, 'm')),
    many(400, (index) => call(2_000 + index, `m${index}`)),
    many(1_100, (index) => call(index, 'm')),
  ]
  for (const [round, flood] of floods.entries()) {
    const placed = flood.map((one, index) => placeSample(one, round * 10_000 + index))
    await startStores().calls.store(placed, positionOf(0, round * 10_000 + placed.length), 'kept')
  }
  const { rows } = await pool.query(
    `select case when is_other then 'other' when label_1 is null then 'coarser' else 'labelled' end as kind,
       count(*)::integer as series, sum(calls)::integer as calls
     from call_minutes where project_id = $1 group by 1 order by 1`,
    [idToUuid(projectId)],
  )
  expect(rows).toEqual([
    { kind: 'coarser', series: 300, calls: 2 * 100 + 299 },
    { kind: 'labelled', series: 1_000, calls: 2 * 1_000 },
    { kind: 'other', series: 1, calls: 101 },
  ])
})

test('a tool that is seldom used stays named beside one that many agents use', async () => {
  const projectId = await addProject()
  const takenMs = Date.now() - 3 * hourMs
  const called = (tool: string, agent: string) =>
    sampleCall(projectId, { id: newId('request', takenMs), tool_name: tool, agent_name: agent })
  const busy = many(400, (index) => [called('busy', `a${index}`), called('busy', `a${index}`)]).flat()
  // By two partitions, so that neither lane is beyond its bound before they are folded.
  const { calls } = startStores()
  await calls.store(busy.slice(0, 400).map(placeSample), positionOf(2, 400), 'kept')
  const rest = [...busy.slice(400), called('seldom', 'a1')]
  await calls.store(rest.map(placeSample), positionOf(3, rest.length), 'kept')
  await fold(60)
  for (const name of [toolRollups.name, dayTableOf(toolRollups)]) {
    const { rows } = await pool.query(
      `select tool_name, sum(calls)::integer as calls from ${name} where project_id = $1 and not is_other group by 1 order by 1`,
      [idToUuid(projectId)],
    )
    expect(rows).toEqual([
      { tool_name: 'busy', calls: 2 * (toolRollups.maxSeries - 1) },
      { tool_name: 'seldom', calls: 1 },
    ])
  }
})
