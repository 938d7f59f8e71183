import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { eventually } from '#tests/support/until.ts'
import { addAlertRule } from '../../testing/add-alert-rule.ts'
import { many, sampleCall } from '../../testing/sample-records.ts'
import { setSinkFixture, startSink, type SinkFixture } from '../../testing/sink-fixture.ts'

jest.setTimeout(300_000)

let fixture: SinkFixture
beforeAll(async () => {
  fixture = await setSinkFixture()
})
afterAll(() => fixture.close())

test('sinks evaluate what Kafka shows them to have stored; rules on scores wait for scorers', async () => {
  const projectId = await fixture.addProject()
  const onCalls = await addAlertRule(fixture.pool, projectId, { metric: 'calls', alert_threshold: 2 })
  const onScores = await addAlertRule(fixture.pool, projectId, { metric: 'unsafe_count', alert_threshold: 2 })
  const sinks = [await startSink(fixture), await startSink(fixture)]
  try {
    const id = () => newId('request', Date.now() - 2 * 60_000)
    await fixture.sendCalls(many(3, () => sampleCall(projectId, { id: id() })))
    await eventually(
      () =>
        fixture.pool.query(
          `select from event_outbox where event = 'alert_fired' and published_at is not null`,
        ),
      ({ rowCount }) => rowCount === 1,
    )
  } finally {
    await Promise.all(sinks.map(({ service }) => service.stop()))
  }
  const { rows } = await fixture.pool.query(
    'select rule_id, status, value, changes from alert_states where project_id = $1 order by changes desc',
    [idToUuid(projectId)],
  )
  expect(rows).toMatchObject([
    { rule_id: onCalls, status: 'alert', value: 3, changes: '1' },
    // No scorer runs in this test: the jobs of these calls wait.
    { rule_id: onScores, status: 'ok', changes: '0' },
  ])
})
