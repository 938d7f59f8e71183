import { expect, test } from '@jest/globals'
import type { PoolClient } from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { idToUuid, liveRunId, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { until } from '#tests/support/until.ts'
import { promoteCalls } from './promote-runs.ts'
import { placeScores } from '../steps/place-score.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { lockRun } from '../stores/run-store.ts'
import { createScoreStore } from '../stores/score-store.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'

const world = useErasingFixture()
const safe = { score_value: 1, score_label: 'safe', severity: null } as const

async function storedCall(): Promise<LoggedCall> {
  const call = sampleCall(await world.fixture.addProject())
  await world.fixture.store([call])
  return call
}

async function storeScores(
  calls: readonly LoggedCall[],
  runId: string,
  scorer: string,
  verdict = {},
): Promise<void> {
  const scored = calls.map((call) => {
    const id = scoreId(call.project_id, call.id, scorer, runId)
    const score = sampleScore(call.project_id, call.id, { id, scorer_name: scorer, ...verdict })
    return sampleScoredCall(call, { run_id: runId, scores: [score], raise_events: false })
  })
  await createScoreStore(world.pool, createRollupStore()).store(scored.flatMap(placeScores), 0, () => [])
}

const storeScore = (call: LoggedCall, runId: string, scorer: string, verdict = {}) =>
  storeScores([call], runId, scorer, verdict)

/** A run of the call's project that is to be promoted. */
async function orderedRun(call: LoggedCall): Promise<string> {
  const runId = newId('run')
  await world.pool.query(
    `insert into score_runs (id, project_id, start_at, end_at, source, alert, status, calls_total, created_at)
     values ($1, $2, now() - interval '1 hour', now() + interval '1 hour', 'postgres', false, 'promoting', 1, now())`,
    [idToUuid(runId), idToUuid(call.project_id)],
  )
  return runId
}

/** Promotes the run's call as one sink does; `beforeCommit` is what happens meanwhile. */
async function promote(
  runId: string,
  beforeCommit: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const client = await world.pool.connect()
  try {
    await client.query('begin')
    const run = await lockRun(client, ['promoting'], idToUuid(runId))
    if (run === undefined) throw new Error('there is no such run')
    await promoteCalls(client, run, { rollups: createRollupStore(), clock: systemClock })
    await beforeCommit()
    await client.query('commit')
  } finally {
    client.release()
  }
}

/** Until so many transactions of this database wait for another. */
const untilWaiting = (count: number) =>
  until(async () => {
    const { rows } = await world.pool.query<{ count: number }>(
      `select count(distinct pid)::int as count from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
    )
    return rows[0]?.count === count
  })

test('calls that are erased while their promotion waits for them leave it those behind them', async () => {
  const nowMs = Date.now()
  const first = await storedCall()
  const others = many(200, (index) =>
    sampleCall(first.project_id, { id: newId('request', nowMs + 1 + index) }),
  )
  await world.fixture.store(others)
  const [last] = others.slice(-1)
  if (last === undefined) throw new Error('there are no calls')
  const runId = await orderedRun(first)
  await storeScores([first, ...others], runId, 'pii_detection')
  const eraser = await world.pool.connect()
  await eraser.query('begin')
  const allBut = 'delete from llm_requests where project_id = $1 and id <> $2'
  await eraser.query(allBut, [idToUuid(first.project_id), idToUuid(last.id)])
  const promoted = promote(runId)
  await untilWaiting(1)
  await letGo(eraser)
  await promoted
  await promote(runId)
  expect(await liveScores(last)).toEqual(['pii_detection'])
})

test('scores are stored in the order of their calls, as these are locked', async () => {
  const [first, second] = await callsOfOneMoment()
  const holder = await world.pool.connect()
  await holder.query('begin')
  await holder.query('select from llm_requests where id = $1 for update', [idToUuid(first.id)])
  const stored = createScoreStore(world.pool, createRollupStore()).store(
    [second, first].flatMap((call) => placeScores(sampleScoredCall(call))),
    0,
    () => [],
  )
  await untilWaiting(1)
  await holder.query('select from llm_requests where id = $1 for update nowait', [idToUuid(second.id)])
  await letGo(holder)
  expect(await stored).toMatchObject({ missed: 0 })
})

/** Their scores' identifiers are in the other order. */
async function callsOfOneMoment(): Promise<[LoggedCall, LoggedCall]> {
  const projectId = await world.fixture.addProject()
  const scoreOf = (call: LoggedCall) => sampleScoredCall(call).scores[0]?.id ?? ''
  for (;;) {
    const calls = [0, 0].map(() =>
      sampleCall(projectId, { id: newId('request', 1_000 * Math.floor(Date.now() / 1_000)) }),
    )
    const [first, second] = calls.toSorted((one, other) => (idToUuid(one.id) < idToUuid(other.id) ? -1 : 1))
    if (first === undefined || second === undefined || idToUuid(scoreOf(first)) < idToUuid(scoreOf(second)))
      continue
    await world.fixture.store([first, second])
    return [first, second]
  }
}

async function liveScores(call: LoggedCall): Promise<unknown[]> {
  const { rows } = await world.pool.query<{ scorer_name: string }>(
    'select scorer_name from safety_scores where request_id = $1 and run_id = $2 order by scorer_name',
    [idToUuid(call.id), idToUuid(liveRunId(call.project_id))],
  )
  return rows.map(({ scorer_name }) => scorer_name)
}

test('of two runs that are promoted at once the later has the place of the earlier', async () => {
  const call = await storedCall()
  const [first, second] = [await orderedRun(call), await orderedRun(call)]
  for (const runId of [liveRunId(call.project_id), first, second])
    await storeScore(call, runId, 'pii_detection')
  let later: Promise<void> | undefined
  await promote(first, async () => {
    later = promote(second)
    await untilWaiting(1)
  })
  await later
  expect(await liveScores(call)).toEqual(['pii_detection'])
})

test("a live score that is stored while its call's run is promoted counts in the verdict", async () => {
  const call = await storedCall()
  const runId = await orderedRun(call)
  await storeScore(call, runId, 'hallucination', safe)
  const holder = await world.pool.connect()
  await holder.query('begin')
  // Where a sink's transaction ends: its score and its verdict are written.
  await holder.query('lock table score_rollups in share row exclusive mode')
  const stored = storeScore(call, liveRunId(call.project_id), 'pii_detection')
  await untilWaiting(1)
  const promoted = promote(runId)
  await untilWaiting(2)
  await letGo(holder)
  await Promise.all([stored, promoted])
  expect(await liveScores(call)).toEqual(['hallucination', 'pii_detection'])
  const verdict = 'select worst_label, score_count from request_verdicts where request_id = $1'
  expect((await world.pool.query(verdict, [idToUuid(call.id)])).rows).toEqual([
    { worst_label: 'unsafe', score_count: 2 },
  ])
})

async function letGo(holder: PoolClient): Promise<void> {
  await holder.query('commit')
  holder.release()
}
