import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { idToUuid, liveRunId, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { placeScores } from '../steps/place-score.ts'
import { createCallStore } from '../stores/call-store.ts'
import { createDayPartitions, dayOf } from '../stores/day-partitions.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { createScoreStore, type ScoreStore } from '../stores/score-store.ts'
import { storedAndReadAgain } from '../testing/compare-readings.ts'
import { countedAndRecounted } from '../testing/recount-rollups.ts'
import { many, placeSample, sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { createVerdictDerivation } from './derive-verdicts.ts'
import { createElection, upkeepLocks } from './election.ts'

jest.setTimeout(120_000)

let database: TestDatabase
let pool: pg.Pool
let scores: ScoreStore
let derive: ReturnType<typeof createVerdictDerivation>

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 4 })
  const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
  for (const day of [-1, 0, 1]) await partitions.make(dayOf(Date.now() - day * 86_400_000))
  scores = createScoreStore(pool, createRollupStore())
  derive = createVerdictDerivation({
    ...createElection(pool, upkeepLocks.verdicts),
    metrics: createMetrics(),
  })
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

async function addCalls(count: number): Promise<{ projectId: string; calls: LoggedCall[] }> {
  const projectId = newId('project')
  await pool.query(`insert into projects (id, name, created_at) values ($1, 'a project', now())`, [
    idToUuid(projectId),
  ])
  const calls = many(count, () => sampleCall(projectId))
  const position = { cluster: 'c', topic: projectId, partition: 0, nextOffset: 1n }
  await createCallStore(pool, createRollupStore()).store(calls.map(placeSample), position, 'kept')
  return { projectId, calls }
}

const shapes = {
  safe: { score_label: 'safe', score_value: 1, severity: null },
  unsafe: { score_label: 'unsafe', score_value: 5, severity: 'high' },
  undecided: { score_label: 'unscored', score_value: null, severity: null, reason: 'detectors_undecided' },
  outside: { score_label: 'unscored', score_value: null, severity: null, reason: 'language_not_covered' },
  unread: { score_label: 'unscored', score_value: null, severity: null, reason: 'too_slow' },
  inapplicable: { score_label: 'unscored', score_value: null, severity: null, reason: 'no_tools' },
} satisfies Record<string, Partial<Score>>
type Shape = keyof typeof shapes

const scoreOf = (call: LoggedCall, shape: Shape, scorer: string) =>
  sampleScore(call.project_id, call.id, {
    ...shapes[shape],
    scorer_name: scorer,
    id: scoreId(call.project_id, call.id, scorer, liveRunId(call.project_id)),
  })

const store = (call: LoggedCall, score: Score) =>
  scores.store(placeScores(sampleScoredCall(call, { scores: [score] })), 0, () => [])

/** What a sink of 0.1.0 writes: it knows no readings. */
async function storeAsBefore(call: LoggedCall, score: Score): Promise<void> {
  const of = [call.project_id, call.id].map(idToUuid)
  const added = await pool.query(
    `insert into safety_scores (project_id, request_id, request_created_at, id, run_id, scorer_name, score_value, score_label, severity,
       method, scorer_version, reason, created_at)
     select project_id, id, created_at, $3, $4, $5, $6, $7, $8, 'detector', '1', $9, now() from llm_requests
     where project_id = $1 and id = $2 on conflict do nothing`,
    [
      ...of,
      idToUuid(score.id),
      idToUuid(liveRunId(call.project_id)),
      ...[score.scorer_name, score.score_value, score.score_label, score.severity, score.reason],
    ],
  )
  if (added.rowCount === 0) return
  await pool.query(
    `insert into request_verdicts as v (project_id, request_id, request_created_at, worst_label, worst_severity, score_count)
     select project_id, id, created_at, $3, $4, 1 from llm_requests where project_id = $1 and id = $2
     on conflict (project_id, request_id, request_created_at) do update set score_count = v.score_count + 1,
       worst_label = case when v.worst_label = 'unsafe' or excluded.worst_label = 'safe' then v.worst_label else excluded.worst_label end`,
    [...of, score.score_label, score.severity],
  )
}

async function deriveAll(): Promise<void> {
  while ((await derive()) === true);
}

async function expectExact(projectId: string): Promise<void> {
  const { stored, readAgain } = await storedAndReadAgain(pool, projectId)
  expect(stored).toEqual(readAgain)
  const { counted, recounted } = await countedAndRecounted(pool, projectId)
  expect(counted['verdict_rollups']).toEqual(recounted['verdict_rollups'])
}

async function verdictsOf(calls: readonly LoggedCall[]): Promise<(string | null)[]> {
  const { rows } = await pool.query<{ verdict: string | null }>(
    `select v.verdict from unnest($1::uuid[]) with ordinality wanted (id, place)
     join request_verdicts v on v.request_id = wanted.id order by place`,
    [calls.map(({ id }) => idToUuid(id))],
  )
  return rows.map(({ verdict }) => verdict)
}

test('a verdict stored by the version before gets its reading later, and one that this version changed a new one', async () => {
  const { projectId, calls } = await addCalls(3)
  const [older, changed, own] = calls as [LoggedCall, LoggedCall, LoggedCall]
  await storeAsBefore(older, scoreOf(older, 'unread', 'a'))
  await store(older, scoreOf(older, 'safe', 'b'))
  await store(changed, scoreOf(changed, 'unread', 'a'))
  await storeAsBefore(changed, scoreOf(changed, 'unsafe', 'b'))
  await store(own, scoreOf(own, 'undecided', 'a'))
  expect(await verdictsOf(calls)).toEqual([null, 'not_read', 'no_finding'])
  await deriveAll()
  expect(await verdictsOf(calls)).toEqual(['partly_read', 'unsafe', 'no_finding'])
  await expectExact(projectId)
  // Now it is joined as any other.
  await store(older, scoreOf(older, 'unsafe', 'c'))
  expect(await verdictsOf([older])).toEqual(['unsafe'])
  await expectExact(projectId)
})

test('a verdict without its call is given up, so that the rest is reached', async () => {
  const { projectId, calls } = await addCalls(1)
  const [call] = calls as [LoggedCall]
  await storeAsBefore(call, scoreOf(call, 'safe', 'a'))
  await pool.query(`set session_replication_role = replica; delete from llm_requests where project_id = '${idToUuid(projectId)}';
    set session_replication_role = origin`)
  await deriveAll()
  const { rows } = await pool.query('select from request_verdicts where reading_revision is null')
  expect(rows).toEqual([])
})

const step = fc.record({
  kind: fc.constantFrom('store', 'store', 'store', 'as before', 'derive'),
  call: fc.nat(3),
  scorer: fc.constantFrom('a', 'b', 'c', 'd'),
  shape: fc.constantFrom(...(Object.keys(shapes) as Shape[])),
})

test('whatever both versions store in turn, also twice, readings and their counts are exact once all are derived', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (script) => {
      const { projectId, calls } = await addCalls(4)
      for (const { kind, call: index, scorer, shape } of script) {
        const call = calls[index] as LoggedCall
        if (kind === 'derive') await deriveAll()
        else await (kind === 'store' ? store : storeAsBefore)(call, scoreOf(call, shape, scorer))
      }
      await deriveAll()
      await expectExact(projectId)
    }),
    { numRuns: 40, endOnFailure: true },
  )
})
