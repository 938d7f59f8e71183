import { expect, jest, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import { addAlertRule } from '../../testing/add-alert-rule.ts'
import { addWebhook } from '../../testing/add-webhook.ts'
import { many } from '../../testing/sample-records.ts'
import { callAt, useAlertFixture } from '../../testing/use-alert-fixture.ts'

jest.setTimeout(300_000)

const minuteMs = 60_000
const world = useAlertFixture()

test('rules come by themselves: with a webhook, a gateway, a limit for the judge; each once', async () => {
  const projectId = await world.addProject()
  const bare = await world.addProject()
  await addWebhook(world.pool(), projectId)
  await world.pool().query(
    `insert into gateways (project_id, name, version, delivery, started_at, seen_at, spool_records, spool_bytes, spool_oldest_at, lost, problems)
     select $1, name, '1', 'api', now(), now() - interval '2 minutes', 1, 1, now() - waited, '{}', '{}'
     from (values ('a', interval '42 minutes'), ('b', null)) as g (name, waited)`,
    [idToUuid(projectId)],
  )
  await world
    .pool()
    .query('update projects set judge_usd_per_period = 10 where id = $1', [idToUuid(projectId)])
  await world.pool().query(
    `insert into judge_spend (project_id, period_start, period_reset_at, spent_usd, reserved_usd)
     values ($1, now() - interval '9 days', now() + interval '9 days', 8, 1), ($1, now() - interval '40 days', now() - interval '9 days', 99, 0)`,
    [idToUuid(projectId)],
  )
  await world.evaluate(Date.now())
  await world.evaluate(Date.now())
  const { rows } = await world.pool().query(
    `select r.project_id, metric, is_built_in, status, value from alert_rules r join alert_states s on s.rule_id = r.id
     where r.project_id = any ($1) order by metric`,
    [[projectId, bare].map(idToUuid)],
  )
  const common = { project_id: idToUuid(projectId), is_built_in: true }
  expect(rows).toEqual([
    { ...common, metric: 'delivery_failures', status: 'ok', value: 0 },
    { ...common, metric: 'judge_budget_share', status: 'warning', value: 0.9 },
    { ...common, metric: 'spool_wait_s', status: 'alert', value: 2_400 },
  ])
})

test('what has to last and the pause after an alert are kept between evaluations', async () => {
  const projectId = await world.addProject()
  const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs
  const rule = await addAlertRule(world.pool(), projectId, {
    ...{ metric: 'calls', alert_threshold: 1, window_minutes: 5, for_minutes: 2, cooldown_minutes: 30 },
  })
  const at = async (minute: number, calls: number) => {
    const offsetMs = nowMs + minute * minuteMs
    if (calls > 0) await world.store(many(calls, () => callAt(projectId, offsetMs - 1)))
    await world.evaluate(offsetMs)
    return [(await world.statusOf(rule))?.status, (await world.eventsOf(projectId)).length]
  }
  expect(await at(0, 2)).toEqual(['ok', 0])
  expect(await at(1, 0)).toEqual(['ok', 0])
  expect(await at(2, 0)).toEqual(['alert', 1])
  expect(await at(6, 0)).toEqual(['ok', 2])
  // It fires again within the pause, and tells nothing.
  expect(await at(7, 2)).toEqual(['ok', 2])
  expect(await at(9, 0)).toEqual(['alert', 2])
})
