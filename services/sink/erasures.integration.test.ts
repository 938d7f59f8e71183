import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { createDeliveryStore } from '#services/notifier/stores/delivery-store.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createErasing } from './erase-recorded.ts'
import { makeThreatEvent } from './steps/make-threat-event.ts'
import { placeCall } from './steps/place-call.ts'
import { placeScores } from './steps/place-score.ts'
import { createCallStore } from './stores/call-store.ts'
import { createDayPartitions, dayOf } from './stores/day-partitions.ts'
import { forgetErased } from './stores/erase-calls.ts'
import { createRollupStore } from './stores/rollup-store.ts'
import { createScoreStore } from './stores/score-store.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from './testing/sample-records.ts'
import { addWebhook } from './testing/add-webhook.ts'
import { eventually } from './testing/sink-stage.ts'

jest.setTimeout(60_000)

let database: TestDatabase
let pool: pg.Pool
let next = 0

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 6 })
  const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
  for (const day of [0, 1, 2]) await partitions.make(dayOf(Date.now() - day * 86_400_000))
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

const rollups = createRollupStore()

/** Stores calls as a sink does that gets them at the next offsets, or at 0 when they are `redelivered`. */
async function store(calls: readonly LoggedCall[], { redelivered = false } = {}) {
  const first = redelivered ? 0 : next
  next += calls.length
  const placed = calls.map((value, index) =>
    placeCall({
      topic: '',
      partition: 0,
      offset: BigInt(first + index),
      key: null,
      value,
      headers: {},
      timestampMs: 0,
    }),
  )
  const position = { cluster: 'c', topic: 't', partition: 0, nextOffset: BigInt(first + calls.length) }
  return createCallStore(pool, rollups).store(placed, position, 'kept')
}

const threatOf = (call: LoggedCall) => {
  const score = sampleScore(call.project_id, call.id)
  return makeThreatEvent(sampleScoredCall(call), score, 'https://sluice.example')
}

const score = (calls: readonly LoggedCall[]) =>
  createScoreStore(pool, rollups).store(
    calls.flatMap((call) => placeScores(sampleScoredCall(call))),
    0,
    (added) => added.map(({ call, score: added }) => makeThreatEvent(call, added, 'https://sluice.example')),
  )

/** What the notifier writes when the events of calls come. */
async function fanOut(calls: readonly LoggedCall[], webhookId: string): Promise<void> {
  const deliveries = calls.map((call) => {
    const event = threatOf(call)
    const id = deliveryId(event, webhookId)
    return {
      delivery_id: id,
      webhook_id: webhookId,
      project_id: call.project_id,
      attempt: 1,
      first_attempt: 1,
      due_at: 0,
      event,
      last_error: null,
    }
  })
  await createDeliveryStore(pool, 1_000).insert(deliveries)
}

async function erase(projectId: string, scope: string, subject: string): Promise<string> {
  const id = idToUuid(newId('erasure'))
  await pool.query(
    `insert into erasures (id, project_id, scope, subject, requested_at, requested_by, kept_in_kafka_until)
     values ($1, $2, $3, $4, now(), 'operator', now() + interval '21 days')`,
    [id, idToUuid(projectId), scope, subject],
  )
  return id
}

const erasing = () =>
  createErasing({ pool, clock: systemClock, log: createLog('test', 'silent'), metrics: createMetrics() })

async function makeRounds(count: number): Promise<void> {
  const round = erasing()
  for (let made = 0; made < count; made++) await round()
}

/** Makes rounds as a sink does until the erasure is done: other tests' transactions on the same server are waited for too. */
const erased = (id: string, calls: string) =>
  eventually(
    () => makeRounds(1).then(() => statusOf(id)),
    (status) => status?.status === 'erased' && status.erased_calls === calls,
  )

async function statusOf(id: string) {
  const { rows } = await pool.query<{ status: string; erased_calls: string }>(
    'select status, erased_calls from erasures where id = $1',
    [id],
  )
  return rows[0]
}

const tables = [
  'score_reviews',
  'llm_requests',
  'llm_request_bodies',
  'safety_scores',
  'safety_score_details',
  'request_verdicts',
  'event_outbox',
  'webhook_deliveries',
]

async function countsOf(projectId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::integer as n from ${table} where project_id = $1`,
      [idToUuid(projectId)],
    )
    counts[table] = rows[0]?.n ?? -1
  }
  return counts
}
const all = (count: number) => Object.fromEntries(tables.map((table) => [table, count]))

test.each<[scope: 'request' | 'session' | 'user', subjectOf: (call: LoggedCall) => string]>([
  ['request', ({ id }) => idToUuid(id)],
  ['session', ({ session_id }) => session_id ?? ''],
  ['user', ({ user_id }) => user_id ?? ''],
])('a %s is erased with all that hangs on it, and nothing of it comes back', async (scope, subjectOf) => {
  const [projectId, otherId] = [await addProject(), await addProject()]
  const webhookId = await addWebhook(pool, projectId)
  const mine = sampleCall(projectId, { session_id: 's-erased', user_id: 'u-erased' })
  const kept = many(3, () => sampleCall(projectId, { session_id: 's-kept', user_id: 'u-kept' }))
  const same = sampleCall(otherId, { id: mine.id, session_id: 's-erased', user_id: 'u-erased' })
  await store([mine, ...kept, same])
  await score([mine, ...kept, same])
  await fanOut([mine, ...kept], webhookId)
  await pool.query(
    `insert into dead_letters (id, cluster, topic, partition, "offset", code, message, project_id, request_id, dead_at)
     values (gen_random_uuid(), 'c', 't', 0, 0, 'X', 'x', $1, $2, now())`,
    [idToUuid(projectId), idToUuid(mine.id)],
  )
  expect(await countsOf(projectId)).toEqual({ ...all(4), score_reviews: 0 })
  await pool.query(
    `insert into score_reviews select gen_random_uuid(), project_id, request_id, request_created_at, id, scorer_name, scorer_version, score_label,
       'safe', false, 'somebody', 'quotes it', now() from safety_scores where project_id = $1`,
    [idToUuid(projectId)],
  )
  const erasure = await erase(projectId, scope, subjectOf(mine))
  await erased(erasure, '1')
  expect(await countsOf(projectId)).toEqual(all(3))
  expect(await countsOf(otherId)).toEqual({ ...all(1), webhook_deliveries: 0, score_reviews: 0 })
  expect(
    (await pool.query('select from dead_letters where project_id = $1', [idToUuid(projectId)])).rowCount,
  ).toBe(0)

  // Redelivered, sent again, redriven: dropped; as are its scores and its events, wherever they were.
  expect((await store([mine], { redelivered: true })).fates).toEqual(['erased'])
  expect((await store([mine])).fates).toEqual(['erased'])
  expect(await score([mine])).toMatchObject({ added: [], missed: 1 })
  await fanOut([mine], webhookId)
  expect(await countsOf(projectId)).toEqual(all(3))

  // What the same user does afterwards is another matter.
  const later = sampleCall(projectId, {
    id: newId('request', Date.now() + 60_000),
    received_at: Date.now() + 60_000,
    session_id: 's-erased',
    user_id: 'u-erased',
  })
  expect((await store([later])).fates).toEqual(['stored'])
})

test('a whole project is erased with its roll-ups and tool names; its settings stay', async () => {
  const projectId = await addProject()
  const webhookId = await addWebhook(pool, projectId)
  const days = [0, 1, 2]
  const calls = many(30, (index) =>
    sampleCall(projectId, {
      id: newId('request', Date.now() - (days[index % 3] ?? 0) * 86_400_000),
      tool_names: ['search'],
    }),
  )
  await store(calls)
  await score(calls)
  await fanOut(calls, webhookId)
  const erasure = await erase(projectId, 'project', '')
  await erased(erasure, '30')
  expect(await countsOf(projectId)).toEqual(all(0))
  for (const table of ['call_rollups', 'score_rollups', 'tool_rollups', 'seen_tools']) {
    expect(
      (await pool.query(`select from ${table} where project_id = $1`, [idToUuid(projectId)])).rowCount,
    ).toBe(0)
  }
  expect(
    (await pool.query('select from webhooks where project_id = $1', [idToUuid(projectId)])).rowCount,
  ).toBe(1)
})

test('an erasure is not done before a sink has ended that began without knowing of it', async () => {
  const projectId = await addProject()
  const call = sampleCall(projectId, { user_id: 'u1' })
  const client = await pool.connect()
  try {
    // As a sink's transaction that has looked for erasures and found none.
    await client.query('begin')
    await client.query(`insert into sink_positions values ('c', 'slow', 0, 0)`)
    const erasure = await erase(projectId, 'user', 'u1')
    await makeRounds(5)
    expect(await statusOf(erasure)).toEqual({ status: 'erasing', erased_calls: '0' })
    await client.query(
      `insert into llm_requests (project_id, id, created_at, source, model, user_id, zero_content_retention, received_at)
       values ($1, $2, $3, 'api', 'm', 'u1', false, $3)`,
      [idToUuid(projectId), idToUuid(call.id), new Date(call.received_at)],
    )
    await client.query('commit')
    await erased(erasure, '1')
    expect((await countsOf(projectId))['llm_requests']).toBe(0)
  } finally {
    client.release()
  }
})

test('notes of erased calls go when Kafka has nothing of them, erasures some time later', async () => {
  const projectId = await addProject()
  const call = sampleCall(projectId)
  await store([call])
  const erasure = await erase(projectId, 'request', idToUuid(call.id))
  await erased(erasure, '1')
  const forget = async (keptUntil: string) => {
    await pool.query(`update erasures set kept_in_kafka_until = now() + $2::interval where id = $1`, [
      erasure,
      keptUntil,
    ])
    const client = await pool.connect()
    await forgetErased(client, 90)
    client.release()
    const notes = await pool.query('select from erased_requests where erasure_id = $1', [erasure])
    return [notes.rowCount, (await pool.query('select from erasures where id = $1', [erasure])).rowCount]
  }
  expect(await forget('1 day')).toEqual([1, 1])
  expect(await forget('-1 day')).toEqual([0, 1])
  expect(await forget('-91 days')).toEqual([0, 0])
})
