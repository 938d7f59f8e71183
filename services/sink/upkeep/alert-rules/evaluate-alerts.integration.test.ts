import { expect, jest, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import { createRollupStore } from '../../stores/rollup-store.ts'
import { createScoreStore } from '../../stores/score-store.ts'
import { placeScores } from '../../steps/place-score.ts'
import { addAlertRule } from '../../testing/add-alert-rule.ts'
import { many, sampleScoredCall } from '../../testing/sample-records.ts'
import { callAt, useAlertFixture } from '../../testing/use-alert-fixture.ts'

jest.setTimeout(300_000)

const minuteMs = 60_000
const dayMs = 86_400_000
const world = useAlertFixture()

test('a rule fires once, is late while the sink is behind, and recovers without calls', async () => {
  const projectId = await world.addProject()
  const nowMs = Date.now()
  const rule = await addAlertRule(world.pool(), projectId, {
    ...{ metric: 'failed_share', filter: { agent_name: 'support-bot' } },
    ...{ warning_threshold: 0.2, alert_threshold: 0.4 },
  })
  const failing = { status_code: 500 }
  await world.store([
    ...many(2, () => callAt(projectId, nowMs - 2 * minuteMs, failing)),
    ...many(2, () => callAt(projectId, nowMs - 2 * minuteMs)),
    // Not of the rule: another agent, the red team, and before the window.
    callAt(projectId, nowMs - 2 * minuteMs, { ...failing, agent_name: 'another' }),
    ...many(9, () => callAt(projectId, nowMs - 2 * minuteMs, { source: 'redteam' })),
    ...many(9, () => callAt(projectId, nowMs - 8 * minuteMs)),
  ])
  await world.evaluate(nowMs)
  await world.evaluate(nowMs)
  expect(await world.statusOf(rule)).toEqual({ status: 'alert', value: 0.5, compared_with: null })
  const fired = { rule_name: 'a rule', metric: 'failed_share', level: 'alert', value: 0.5, threshold: 0.4 }
  expect(await world.eventsOf(projectId)).toMatchObject([
    { event: 'alert_fired', ...fired, filter: { agent_name: 'support-bot' }, window_minutes: 5 },
  ])
  await world.evaluate(nowMs + 20 * minuteMs, nowMs)
  expect(await world.statusOf(rule)).toEqual({ status: 'late', value: 0.5, compared_with: null })
  expect(await world.eventsOf(projectId)).toHaveLength(1)
  await world.evaluate(nowMs + 20 * minuteMs)
  expect(await world.statusOf(rule)).toEqual({ status: 'no_data', value: null, compared_with: null })
  expect((await world.eventsOf(projectId)).slice(1)).toMatchObject([
    { event: 'alert_recovered', level: 'alert', value: null },
  ])
})

test('every metric is measured on what was stored', async () => {
  const projectId = await world.addProject()
  const nowMs = Date.now()
  const atMs = nowMs - 2 * minuteMs
  const calls = many(4, (index) => callAt(projectId, atMs, { latency_ms: index === 3 ? 9_000 : 100 }))
  // At the edges of the window of a day, in its whole hours, and before it.
  const startMs = Math.floor(nowMs / minuteMs) * minuteMs - dayMs
  const times = [startMs - 1, startMs, startMs + 12 * 3_600_000, startMs + 20 * 3_600_000]
  const ofDay = times.map((timeMs) => callAt(projectId, timeMs, { latency_ms: 9_000 }))
  await world.store([...calls, ...ofDay, ...many(2, () => callAt(projectId, atMs - 7 * dayMs))])
  const scored = calls.slice(0, 2).map((call) => sampleScoredCall(call))
  await createScoreStore(world.pool(), createRollupStore()).store(scored.flatMap(placeScores), 0, () => [])
  await world.pool().query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, created_at)
     select gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), 'usage_alert', $2, '{}', status, now()
     from unnest(array['failed', 'retrying', 'delivered']) as status`,
    [idToUuid(projectId), new Date(atMs)],
  )
  const add = (changes: Omit<Parameters<typeof addAlertRule>[2], 'alert_threshold'>) =>
    addAlertRule(world.pool(), projectId, { ...changes, alert_threshold: 1e9 })
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
  await world.evaluate(nowMs)
  const values = Object.fromEntries(
    await Promise.all(
      Object.entries(rules).map(async ([name, rule]) => [name, (await world.statusOf(rule))?.value]),
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
  const { compared_with } = (await world.statusOf(rules.compared)) ?? {}
  expect([1, 2]).toContain(compared_with)
})

test('a rule that takes too long is late and keeps no other waiting; a disabled one recovers', async () => {
  const projectId = await world.addProject()
  const slow = await addAlertRule(world.pool(), projectId, {
    metric: 'calls',
    direction: 'below',
    alert_threshold: 1,
  })
  const quick = await addAlertRule(world.pool(), projectId, {
    metric: 'delivery_failures',
    alert_threshold: 1,
  })
  const nowMs = Date.now()
  await world.evaluate(nowMs)
  expect(await world.statusOf(slow)).toMatchObject({ status: 'alert', value: 0 })
  await world.pool().query(`delete from alert_rules where project_id <> $1`, [idToUuid(projectId)])
  await world.pool().query(`update alert_states set status = 'no_data' where rule_id = $1`, [quick])
  const holder = await world.pool().connect()
  await holder.query('begin; lock table call_minutes in access exclusive mode')
  await world.evaluate(nowMs + minuteMs, nowMs + minuteMs, 300)
  await holder.query('rollback')
  holder.release()
  expect([await world.statusOf(slow), await world.statusOf(quick)]).toMatchObject([
    { status: 'late' },
    { status: 'ok' },
  ])
  await world.pool().query('update alert_rules set enabled = false where id = $1', [slow])
  await world.evaluate(nowMs + 2 * minuteMs)
  expect((await world.eventsOf(projectId)).map(({ event }) => event)).toEqual([
    'alert_fired',
    'alert_recovered',
  ])
})
