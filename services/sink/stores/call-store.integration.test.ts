import { expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { placeSample, sampleCall } from '../testing/sample-records.ts'
import { useCallDatabase } from '../testing/use-call-database.ts'
import { createCallStore } from './call-store.ts'
import { createRollupStore } from './rollup-store.ts'

const { pool, addProject } = useCallDatabase()

test('tools beyond ten thousand of a project are not remembered and raise no event, but are counted', async () => {
  const [fullId, otherId] = [await addProject(), await addProject()]
  await pool().query(
    `insert into seen_tools select $1, 'known ' || number, now() from generate_series(1, 9999) number`,
    [idToUuid(fullId)],
  )
  const called = [
    ...['a', 'b', 'c', 'known 1'].map((tool) => sampleCall(fullId, { tool_name: tool })),
    sampleCall(otherId, { tool_name: 'a' }),
  ]
  const position = { cluster: 'c', topic: 't', partition: 0, nextOffset: BigInt(called.length) }
  const stored = await createCallStore(pool(), createRollupStore()).store(
    called.map((call, index) => placeSample(call, index)),
    position,
    'kept',
  )
  expect(stored).toMatchObject({ eventCount: 2, leftOutTools: 2 })
  const { rowCount } = await pool().query('select from seen_tools where project_id = $1', [idToUuid(fullId)])
  expect(rowCount).toBe(10_000)
})

test('a preview is stored beside the call, once and only where content is kept', async () => {
  const projectId = await addProject()
  const [kept, silent, without] = [
    sampleCall(projectId),
    sampleCall(projectId, { zero_content_retention: true }),
    sampleCall(projectId, { preview: null }),
  ]
  const store = createCallStore(pool(), createRollupStore())
  for (const nextOffset of [3n, 6n]) {
    const placed = [kept, silent, without].map((call, index) => placeSample(call, index))
    await store.store(placed, { cluster: 'c', topic: 'previews', partition: 0, nextOffset }, 'kept')
  }
  const { rows } = await pool().query('select * from request_previews where project_id = $1', [
    idToUuid(projectId),
  ])
  expect(rows).toMatchObject([{ request_id: idToUuid(kept.id), ...kept.preview }])
})

test('a tool is first seen when it was first called, in whatever order its calls arrive', async () => {
  const [projectId, otherId] = [await addProject(), await addProject()]
  const store = createCallStore(pool(), createRollupStore())
  const [firstMs = 0, secondMs = 0, thirdMs = 0] = [1, 2, 3].map(
    (second) => Date.now() - 60_000 + second * 1_000,
  )
  const at = (ms: number, of = projectId) => sampleCall(of, { id: newId('request', ms), tool_name: 'late' })
  let offset = 0n
  const arrive = async (calls: ReturnType<typeof at>[]) => {
    const placed = calls.map((call) => placeSample(call, Number(offset++)))
    const position = { cluster: 'c', topic: 'tools', partition: 0, nextOffset: offset }
    return (await store.store(placed, position, 'kept')).eventCount
  }
  const seen = async () => {
    const { rows } = await pool().query<{ first_seen_at: Date }>(
      `select first_seen_at from seen_tools where project_id = $1 and tool_name = 'late'`,
      [idToUuid(projectId)],
    )
    return rows.map((row) => row.first_seen_at.getTime())
  }
  const others = at(firstMs - 1_000, otherId)
  expect([await arrive([at(thirdMs), at(secondMs)]), await seen()]).toEqual([1, [secondMs]])
  const first = at(firstMs)
  expect([await arrive([at(thirdMs), first, others]), await seen()]).toEqual([1, [firstMs]])
  // Again, as after a crash, and a later one.
  expect([await arrive([first, at(thirdMs)]), await seen()]).toEqual([0, [firstMs]])
})

test('the first call of a period of the unlimited tier begins it, and is counted in it', async () => {
  const projectId = await addProject()
  await pool().query(
    `insert into subscriptions (project_id, tier, requests_this_period, period_start, period_anchor, period_reset_at)
     values ($1, 'enterprise', 7, now() - interval '40 days', now() - interval '40 days', now() - interval '9 days')`,
    [idToUuid(projectId)],
  )
  const position = { cluster: 'c', topic: 'periods', partition: 0, nextOffset: 1n }
  await createCallStore(pool(), createRollupStore()).store(
    [placeSample(sampleCall(projectId), 0)],
    position,
    'kept',
  )
  const { rows } = await pool().query(
    'select requests_this_period, period_reset_at > now() as is_current from subscriptions where project_id = $1',
    [idToUuid(projectId)],
  )
  expect(rows).toEqual([{ requests_this_period: '1', is_current: true }])
})

test('search signatures are stored once, beside kept bodies and only there', async () => {
  const projectId = await addProject()
  const signed = sampleCall(projectId)
  const calls = [
    signed,
    signed,
    sampleCall(projectId, { search: null }),
    sampleCall(projectId, { zero_content_retention: true }),
    sampleCall(projectId, { request_body: null, response_body: null }),
  ]
  const store = createCallStore(pool(), createRollupStore())
  const position = { cluster: 'c', topic: 'signed', partition: 0, nextOffset: BigInt(calls.length) }
  const placed = calls.map((call, index) => placeSample(call, index))
  for (let delivery = 0; delivery < 2; delivery++) await store.store(placed, position, 'kept')
  const { rows } = await pool().query(
    'select request_id, key_id, bits from search_signatures where project_id = $1',
    [idToUuid(projectId)],
  )
  expect(rows).toEqual([{ request_id: idToUuid(signed.id), ...signed.search }])
})

test('partitions stored at once share a transaction: one bad call fails its own partition, a call in two gets one job', async () => {
  const projectId = await addProject()
  const [first, twice, bad] = [
    sampleCall(projectId),
    sampleCall(projectId),
    sampleCall(projectId, { model: 'a\u0000b' }),
  ]
  const store = createCallStore(pool(), createRollupStore())
  const storeIn = (partition: number, calls: (typeof first)[]) =>
    store.store(
      calls.map((call, index) => placeSample(call, index)),
      { cluster: 'c', topic: 'together', partition, nextOffset: BigInt(calls.length) },
      'kept',
    )
  expect(await Promise.all([storeIn(1, [first, twice]), storeIn(0, [twice]), storeIn(2, [])])).toMatchObject([
    { dispositions: ['stored', 'stored'], rowCount: 2 },
    { dispositions: ['resent'], rowCount: 0 },
    { dispositions: [], rowCount: 0 },
  ])
  const { rows: transactions } = await pool().query(
    `select distinct xmin::text from sink_positions where topic = 'together'`,
  )
  expect(transactions).toHaveLength(1)
  const outcomes = await Promise.allSettled([storeIn(3, [bad]), storeIn(4, [first])])
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { code: 'UNSTORABLE' } },
    { status: 'fulfilled', value: { dispositions: ['resent'] } },
  ])
  const { rows } = await pool().query(
    `select partition, next_offset from sink_positions where topic = 'together' order by 1`,
  )
  expect(rows).toEqual(
    [1, 2, 0, 1].map((next, at) => ({ partition: [0, 1, 2, 4][at], next_offset: String(next) })),
  )
})
