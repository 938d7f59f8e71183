import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { eventually } from '#tests/support/until.ts'
import { createCostAlerts } from './alert-costs.ts'
import { raiseCostAlert } from '../stores/cost-store.ts'
import { sampleCall } from '../testing/sample-records.ts'
import { setSinkFixture, startSink, type SinkFixture } from '../testing/sink-fixture.ts'

jest.setTimeout(300_000)

const log = createLog('test', 'silent')
let fixture: SinkFixture

beforeAll(async () => {
  fixture = await setSinkFixture()
})

afterAll(() => fixture.close())

const untilStored = (projectId: string, count: number) =>
  eventually(
    async () => {
      const { rows } = await fixture.pool.query<{ stored: number }>(
        'select count(*)::integer as stored from llm_requests where project_id = $1',
        [idToUuid(projectId)],
      )
      return rows[0]?.stored
    },
    (stored) => stored === count,
  )

const alertsOf = async (projectId: string) => {
  const { rows } = await fixture.pool.query<{ data: Buffer }>(
    `select data from event_outbox where project_id = $1 and event = 'usage_alert' order by seq`,
    [idToUuid(projectId)],
  )
  return rows.map(({ data }) => JSON.parse(data.toString()) as Record<string, unknown>)
}

test('a cost threshold is reported once a period, from costs really stored, however many sinks look', async () => {
  const projectId = await fixture.addProject()
  const uuid = idToUuid(projectId)
  await fixture.pool.query('update projects set cost_alert_usd = 1.5 where id = $1', [uuid])
  // From the middle of an hour on: what was paid before in the same hour is not of this period.
  const middle = new Date(Date.now() - 60_000)
  await fixture.pool.query(
    'update subscriptions set period_start = $2, period_anchor = $2 where project_id = $1',
    [uuid, middle],
  )
  const before = sampleCall(projectId, { id: newId('request', middle.getTime() - 1), cost_usd: 100 })
  const calls = [0.5, 0.7, null].map((cost_usd) => sampleCall(projectId, { cost_usd }))
  const alerts = () => alertsOf(projectId)
  const look = createCostAlerts({ pool: fixture.pool, clock: systemClock, log, onEvents: () => undefined })
  const round = () => Promise.all([look(), look(), look()])
  const sink = await startSink(fixture)
  try {
    await fixture.sendCalls([before, ...calls, ...calls])
    await untilStored(projectId, 4)
    await round()
    // Somebody whose sum took until the period was over, or the threshold had moved.
    const seen = { projectUuid: uuid, thresholdUsd: 1.5, periodStart: middle }
    for (const other of [{ periodStart: new Date(middle.getTime() - 1) }, { thresholdUsd: 1.4 }])
      expect(await raiseCostAlert(fixture.pool, { ...seen, ...other }, 2, new Date())).toBe(false)
    expect(await alerts()).toEqual([])
    await fixture.sendCalls([sampleCall(projectId, { cost_usd: 0.3 })])
    await untilStored(projectId, 5)
  } finally {
    await sink.service.stop()
  }
  await round()
  await round()
  const told = { alert_type: 'cost_threshold', tier: 'enterprise', limit: null, current_usd: 1.5 }
  expect(await alerts()).toMatchObject([{ ...told, threshold_usd: 1.5, period_start: middle.toISOString() }])
  // A threshold that the project moves is another one (the API forgets that it was told), of 17 digits too.
  const move =
    'with moved as (update projects set cost_alert_usd = 1.1 + 0.3000000000000001 where id = $1) update subscriptions set cost_alerted = false'
  await fixture.pool.query(`${move} where project_id = $1`, [uuid])
  await round()
  await fixture.pool.query('update projects set cost_alert_usd = 0 where id = $1', [uuid])
  // A second ago: a sink's clock has milliseconds, and those of this one may not be over for it yet.
  const over = `period_anchor = period_anchor - interval '1 month' + interval '30 seconds', period_reset_at = now() - interval '1 second'`
  await fixture.pool.query(`update subscriptions set ${over} where project_id = $1`, [uuid])
  await round()
  expect((await alerts()).map(({ threshold_usd: usd }) => usd)).toEqual([1.5, 1.4000000000000001, 0])
})

test('a cost threshold of nothing is passed by the first cost, and not by a period that has just begun', async () => {
  const projectId = await fixture.addProject()
  const uuid = idToUuid(projectId)
  await fixture.pool.query('update projects set cost_alert_usd = 0 where id = $1', [uuid])
  // As the API has it, in milliseconds.
  await fixture.pool.query(
    'update subscriptions set period_start = $2, period_anchor = $2 where project_id = $1',
    [uuid, new Date()],
  )
  const look = createCostAlerts({ pool: fixture.pool, clock: systemClock, log, onEvents: () => undefined })
  const alerts = async () => {
    await look()
    return alertsOf(projectId)
  }
  const sink = await startSink(fixture)
  try {
    expect(await alerts()).toEqual([])
    await fixture.sendCalls([sampleCall(projectId, { cost_usd: 0 })])
    await untilStored(projectId, 1)
    expect(await alerts()).toEqual([])
    await fixture.sendCalls([sampleCall(projectId, { cost_usd: 0.01 })])
    await untilStored(projectId, 2)
  } finally {
    await sink.service.stop()
  }
  expect(await alerts()).toMatchObject([
    { alert_type: 'cost_threshold', threshold_usd: 0, current_usd: 0.01 },
  ])
})
