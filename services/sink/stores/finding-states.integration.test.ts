import { expect, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import { until } from '#tests/support/until.ts'
import { groupByFinding } from '../steps/group-findings.ts'
import { placeScores } from '../steps/place-score.ts'
import { sampleCall, sampleScoredCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'
import { createFindingStore } from './finding-store.ts'
import { openFindings, raiseSeverities } from './finding-states.ts'

const world = useErasingFixture()

/** Severe scores of two kinds, whose findings stand in the table against the order of their keys. */
async function twoGroups(projectId: string) {
  const client = await world.pool.connect()
  try {
    const scores = ['a', 'b'].flatMap((agent_name) =>
      placeScores(sampleScoredCall(sampleCall(projectId, { agent_name }))),
    )
    const groups = groupByFinding((await createFindingStore().assign(client, scores)).scores)
    const mild = groups.map((group) => ({ ...group, severity: 'medium' as const }))
    for (const group of mild.toReversed()) await openFindings(client, [group], Date.now())
    return groups
  } finally {
    client.release()
  }
}

test('severities are raised in the order of keys, so that two who raise them cannot wait for each other', async () => {
  const projectId = await world.fixture.addProject()
  const groups = await twoGroups(projectId)
  const [first, second] = groups.map(({ findingUuid }) => findingUuid)
  const lock = 'select from findings where project_id = $1 and id = $2 for no key update'
  const keyOf = (id: string | undefined) => [idToUuid(projectId), id]
  const [holder, other, raising] = await Promise.all([1, 2, 3].map(() => world.pool.connect()))
  if (holder === undefined || other === undefined || raising === undefined) throw new Error('no connections')
  try {
    await holder.query('begin')
    await holder.query(lock, keyOf(first))
    const raised = raiseSeverities(raising, groups.toReversed())
    await until(async () => {
      const waiting = await world.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return waiting.rowCount === 1
    })
    // Fails if the one that waits for the first already holds the second.
    await other.query(`${lock} nowait`, keyOf(second))
    await holder.query('commit')
    await raised
  } finally {
    for (const client of [holder, other, raising]) client.release()
  }
  const { rows } = await world.pool.query('select severity from findings where project_id = $1', [
    idToUuid(projectId),
  ])
  expect(rows).toEqual([{ severity: 'critical' }, { severity: 'critical' }])
})
