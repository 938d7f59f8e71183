import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { placeScores } from '../../steps/place-score.ts'
import { createCallStore } from '../../stores/call-store.ts'
import { createDayPartitions, dayOf } from '../../stores/day-partitions.ts'
import { createRollupStore } from '../../stores/rollup-store.ts'
import { createScoreStore } from '../../stores/score-store.ts'
import { addWebhook } from '../../testing/add-webhook.ts'
import { addAlertRule } from '../../testing/add-alert-rule.ts'
import { many, placeSample, sampleCall, sampleScoredCall } from '../../testing/sample-records.ts'
import { createElection, upkeepLocks } from '../election.ts'
import { createAlertEvaluation } from './evaluate-alerts.ts'

jest.setTimeout(300_000)

const minuteMs = 60_000
const dayMs = 86_400_000
let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 6 })
  const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
  for (const day of [-8, -7, -6, -1, 0, 1]) await partitions.make(dayOf(Date.now() + day * dayMs))
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

async function addProject(): Promise<string> {
  const id = newId('project')
  await pool.query(`insert into projects (id, name, created_at) values ($1, 'a project', now())`, [
    idToUuid(id),
  ])
  return id
}

let offset = 0

async function store(calls: readonly LoggedCall[]): Promise<void> {
  const position = { cluster: 'c', topic: 't', partition: 0, nextOffset: BigInt((offset += calls.length)) }
  const placed = calls.map((call) => placeSample(call, offset))
  await createCallStore(pool, createRollupStore()).store(placed, position, 'kept')
}

const callAt = (projectId: string, atMs: number, changes: Partial<LoggedCall> = {}) =>
  sampleCall(projectId, { id: newId('request', atMs), ...changes })

/** Evaluates all rules as if it were `nowMs`, with calls stored and scored up to `untilMs`. */
async function evaluate(nowMs: number, untilMs = nowMs, statementMs = 15_000) {
  await pool.query(`update alert_states set due_at = '2020-01-01Z'`)
  const known = () => Promise.resolve(untilMs)
  const round = () =>
    createAlertEvaluation({
      ...{
        pool,
        log: createLog('test', 'silent'),
        metrics: createMetrics(),
        clock: systemClock,
        statementMs,
      },
      ...createElection(pool, upkeepLocks.alertRules),
      ...{ onEvents: () => undefined, dashboardUrl: 'https://sluice.example' },
      ...{ storedUntil: known, scoredUntil: known, now: () => Promise.resolve(new Date(nowMs)) },
    })()
  // Two sinks at once.
  await Promise.all([round(), round()])
}

async function statusOf(ruleUuid: string) {
  const { rows } = await pool.query<{ status: string; value: number | null; compared_with: number | null }>(
    'select status, value, compared_with from alert_states where rule_id = $1',
    [ruleUuid],
  )
  return rows[0]
}

async function eventsOf(projectId: string) {
  const { rows } = await pool.query<{ event: string; data: Buffer }>(
    'select event, data from event_outbox where project_id = $1 order by seq',
    [idToUuid(projectId)],
  )
  return rows.map(({ event, data }) => ({
    event,
    ...(JSON.parse(data.toString()) as Record<string, unknown>),
  }))
}

test('a rule fires once, is late while the sink is behind, and recovers without calls', async () => {
  const projectId = await addProject()
  const nowMs = Date.now()
  const rule = await addAlertRule(pool, projectId, {
    ...{ metric: 'failed_share', filter: { agent_name: 'support-bot' } },
    ...{ warning_threshold: 0.2, alert_threshold: 0.4 },
  })
  const failing = { status_code: 500 }
  await store([
    ...many(2, () => callAt(projectId, nowMs - 2 * minuteMs, failing)),
    ...many(2, () => callAt(projectId, nowMs - 2 * minuteMs)),
    // Not of the rule: another agent, the red team, and before the window.
    callAt(projectId, nowMs - 2 * minuteMs, { ...failing, agent_name: 'another' }),
    ...many(9, () => callAt(projectId, nowMs - 2 * minuteMs, { source: 'redteam' })),
    ...many(9, () => callAt(projectId, nowMs - 8 * minuteMs)),
  ])
  await evaluate(nowMs)
  await evaluate(nowMs)
  expect(await statusOf(rule)).toEqual({ status: 'alert', value: 0.5, compared_with: null })
  const fired = { rule_name: 'a rule', metric: 'failed_share', level: 'alert', value: 0.5, threshold: 0.4 }
  expect(await eventsOf(projectId)).toMatchObject([
    { event: 'alert_fired', ...fired, filter: { agent_name: 'support-bot' }, window_minutes: 5 },
  ])
  await evaluate(nowMs + 20 * minuteMs, nowMs)
  expect(await statusOf(rule)).toEqual({ status: 'late', value: 0.5, compared_with: null })
  expect(await eventsOf(projectId)).toHaveLength(1)
  await evaluate(nowMs + 20 * minuteMs)
  expect(await statusOf(rule)).toEqual({ status: 'no_data', value: null, compared_with: null })
  expect((await eventsOf(projectId)).slice(1)).toMatchObject([
    { event: 'alert_recovered', level: 'alert', value: null },
  ])
})

test('every metric is measured on what was stored', async () => {
  const projectId = await addProject()
  const nowMs = Date.now()
  const atMs = nowMs - 2 * minuteMs
  const calls = many(4, (index) => callAt(projectId, atMs, { latency_ms: index === 3 ? 9_000 : 100 }))
  // At the edges of the window of a day, in its whole hours, and before it.
  const startMs = Math.floor(nowMs / minuteMs) * minuteMs - dayMs
  const times = [startMs - 1, startMs, startMs + 12 * 3_600_000, startMs + 20 * 3_600_000]
  const ofDay = times.map((timeMs) => callAt(projectId, timeMs, { latency_ms: 9_000 }))
  await store([...calls, ...ofDay, ...many(2, () => callAt(projectId, atMs - 7 * dayMs))])
  const scored = calls.slice(0, 2).map((call) => sampleScoredCall(call))
  await createScoreStore(pool, createRollupStore()).store(scored.flatMap(placeScores), 0, () => [])
  await pool.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, created_at)
     select gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), 'usage_alert', $2, '{}', status, now()
     from unnest(array['failed', 'retrying', 'delivered']) as status`,
    [idToUuid(projectId), new Date(atMs)],
  )
  const add = (changes: Omit<Parameters<typeof addAlertRule>[2], 'alert_threshold'>) =>
    addAlertRule(pool, projectId, { ...changes, alert_threshold: 1e9 })
  const rules = {
    calls: await add({ metric: 'calls' }),
    day: await add({ metric: 'calls', window_minutes: 1_440 }),
    day_latency: await add({ metric: 'latency_p95', window_minutes: 1_440 }),
    compared: await add({ metric: 'calls', compare: 'last_week', window_minutes: 60 }),
    tokens: await add({
      metric: 'tokens',
      filter: { model: 'gpt-4o-mini', provider: 'openai', source: 'gateway' },
    }),
    cost: await add({ metric: 'cost_usd' }),
    unsafe: await add({ metric: 'unsafe_count', filter: { severity: 'critical' } }),
    unsafe_share: await add({ metric: 'unsafe_share' }),
    scorer: await add({ metric: 'unsafe_count', filter: { scorer_name: 'pii_detection' } }),
    other_scorer: await add({ metric: 'unsafe_share', filter: { scorer_name: 'hallucination' } }),
    not_read: await add({ metric: 'not_read_share' }),
    deliveries: await add({ metric: 'delivery_failures' }),
    latency: await add({ metric: 'latency_p95' }),
  }
  await evaluate(nowMs)
  const values = Object.fromEntries(
    await Promise.all(
      Object.entries(rules).map(async ([name, rule]) => [name, (await statusOf(rule))?.value]),
    ),
  ) as Record<string, number | null>
  expect(values).toEqual({
    ...{
      calls: 4,
      day: 7,
      day_latency: expect.any(Number),
      compared: 4,
      tokens: 184,
      cost: 0.001,
      unsafe: 2,
      unsafe_share: 1,
      scorer: 2,
    },
    ...{ other_scorer: null, not_read: 0, deliveries: 2, latency: expect.any(Number) },
  })
  expect(values['latency']).toBeGreaterThan(8_192)
  // Two calls in hours whose time the window has half or all of.
  const { compared_with } = (await statusOf(rules.compared)) ?? {}
  expect([1, 2]).toContain(compared_with)
})

test('a project with a webhook has the rule for failing deliveries once', async () => {
  const projectId = await addProject()
  await addWebhook(pool, projectId)
  await evaluate(Date.now())
  await evaluate(Date.now())
  const { rows } = await pool.query(
    'select metric, is_built_in, status from alert_rules r join alert_states s on s.rule_id = r.id where r.project_id = $1',
    [idToUuid(projectId)],
  )
  expect(rows).toEqual([{ metric: 'delivery_failures', is_built_in: true, status: 'ok' }])
})

test('a rule that takes too long is late and keeps no other waiting; a disabled one recovers', async () => {
  const projectId = await addProject()
  const slow = await addAlertRule(pool, projectId, {
    metric: 'calls',
    direction: 'below',
    alert_threshold: 1,
  })
  const quick = await addAlertRule(pool, projectId, { metric: 'delivery_failures', alert_threshold: 1 })
  const nowMs = Date.now()
  await evaluate(nowMs)
  expect(await statusOf(slow)).toMatchObject({ status: 'alert', value: 0 })
  await pool.query(`delete from alert_rules where project_id <> $1`, [idToUuid(projectId)])
  await pool.query(`update alert_states set status = 'no_data' where rule_id = $1`, [quick])
  const holder = await pool.connect()
  await holder.query('begin; lock table call_minutes in access exclusive mode')
  await evaluate(nowMs + minuteMs, nowMs + minuteMs, 300)
  await holder.query('rollback')
  holder.release()
  expect([await statusOf(slow), await statusOf(quick)]).toMatchObject([{ status: 'late' }, { status: 'ok' }])
  await pool.query('update alert_rules set enabled = false where id = $1', [slow])
  await evaluate(nowMs + 2 * minuteMs)
  expect((await eventsOf(projectId)).map(({ event }) => event)).toEqual(['alert_fired', 'alert_recovered'])
})
