import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid, liveRunId, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { eventually } from '#tests/support/until.ts'
import { storedAndReadAgain } from '../testing/compare-readings.ts'
import { countedAndRecounted } from '../testing/recount-rollups.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { setSinkFixture, startSink, type RunningSink, type SinkFixture } from '../testing/sink-fixture.ts'

let fixture: SinkFixture
let sink: RunningSink

beforeAll(async () => {
  fixture = await setSinkFixture()
  sink = await startSink(fixture)
})
afterAll(async () => {
  await sink.service.stop()
  await fixture.close()
})

const unscored = {
  score_value: null,
  score_label: 'unscored',
  severity: null,
  reason: 'bodies_missing',
} as const

test('what could not be judged takes no place of a verdict; where there was none, the run gives one that stays', async () => {
  const projectId = await fixture.addProject()
  const runId = newId('run')
  const [judged, bare] = [sampleCall(projectId), sampleCall(projectId)]
  await fixture.sendCalls([judged, bare])
  await rowsOf('llm_requests', projectId, 2)
  await fixture.sendScores([
    scored(judged, liveRunId(projectId)),
    scored(judged, runId, unscored),
    scored(bare, runId),
  ])
  await rowsOf('safety_scores', projectId, 3)
  await orderRun(runId, projectId)

  // Anyone who polls goes on behind what is stored by now.
  const isNew = `select from safety_scores where project_id = $1 and request_id = $2 and run_id = $3 and stored_xid >= $4::xid8`
  const { rows } = await fixture.pool.query<{ next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  )
  await promote(runId)
  const promoted = [projectId, bare.id, liveRunId(projectId)].map(idToUuid)
  expect((await fixture.pool.query(isNew, [...promoted, rows[0]?.next])).rowCount).toBe(1)
  expect(await verdicts(projectId)).toEqual({
    [idToUuid(judged.id)]: 'unsafe',
    [idToUuid(bare.id)]: 'unsafe',
  })
  expect(await countedVerdicts(projectId)).toEqual({ unsafe: 2, unscored: 0 })

  await promote(runId)
  expect(await countedVerdicts(projectId)).toEqual({ unsafe: 2, unscored: 0 })
})

test('a promoted run brings its readings and their counts, and takes them away when promoted again', async () => {
  const projectId = await fixture.addProject()
  const runId = newId('run')
  const calls = [sampleCall(projectId), sampleCall(projectId)] as const
  await fixture.sendCalls(calls)
  await rowsOf('llm_requests', projectId, 2)
  const safe = { score_value: 1, score_label: 'safe', severity: null } as const
  await fixture.sendScores([
    scored(calls[0], liveRunId(projectId), unscored),
    scored(calls[1], liveRunId(projectId), safe),
    scored(calls[0], runId, safe),
    scored(calls[1], runId),
  ])
  await rowsOf('safety_scores', projectId, 4)
  await orderRun(runId, projectId)
  const readings = async () => {
    const { stored, readAgain } = await storedAndReadAgain(fixture.pool, projectId)
    expect(stored).toEqual(readAgain)
    const { counted, recounted } = await countedAndRecounted(fixture.pool, projectId)
    expect(counted).toEqual(recounted)
    return calls.map(({ id }) => stored[idToUuid(id)]?.verdict)
  }
  expect(await readings()).toEqual(['not_read', 'no_finding'])
  await promote(runId)
  expect(await readings()).toEqual(['no_finding', 'unsafe'])
  await promote(runId)
  // What could not be read takes no verdict's place.
  expect(await readings()).toEqual(['no_finding', 'no_finding'])
})

function scored(call: LoggedCall, runId: string, changes: Partial<Score> = {}) {
  const id = scoreId(call.project_id, call.id, 'pii_detection', runId)
  const score = sampleScore(call.project_id, call.id, { id, ...changes })
  return sampleScoredCall(call, { run_id: runId, scores: [score], raise_events: false })
}

async function orderRun(runId: string, projectId: string): Promise<void> {
  await fixture.pool.query(
    `insert into score_runs (id, project_id, start_at, end_at, source, alert, status, calls_total, created_at)
     values ($1, $2, now() - interval '1 hour', now() + interval '1 hour', 'postgres', false, 'done', 2, now())`,
    [idToUuid(runId), idToUuid(projectId)],
  )
}

async function promote(runId: string): Promise<void> {
  const set = `update score_runs set status = 'promoting', cursor_project = null, cursor_at = null, cursor_id = null where id = $1`
  await fixture.pool.query(set, [idToUuid(runId)])
  await eventually(
    async () =>
      (
        await fixture.pool.query<{ status: string }>('select status from score_runs where id = $1', [
          idToUuid(runId),
        ])
      ).rows[0]?.status,
    (status) => status === 'promoted',
  )
}

const rowsOf = (table: string, projectId: string, count: number) =>
  eventually(
    async () =>
      (await fixture.pool.query(`select from ${table} where project_id = $1`, [idToUuid(projectId)]))
        .rowCount,
    (rowCount) => rowCount === count,
  )

async function verdicts(projectId: string): Promise<Record<string, string>> {
  const { rows } = await fixture.pool.query<{ request_id: string; worst_label: string }>(
    'select request_id, worst_label from request_verdicts where project_id = $1',
    [idToUuid(projectId)],
  )
  return Object.fromEntries(rows.map(({ request_id, worst_label }) => [request_id, worst_label]))
}

async function countedVerdicts(projectId: string): Promise<unknown> {
  const { rows } = await fixture.pool.query(
    'select sum(verdict_unsafe)::int as unsafe, sum(verdict_unscored)::int as unscored from call_rollups where project_id = $1',
    [idToUuid(projectId)],
  )
  return rows[0]
}
