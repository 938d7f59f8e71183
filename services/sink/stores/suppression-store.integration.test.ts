import { expect, test } from '@jest/globals'
import { idToUuid, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { FoundValue, Score } from '#schemas/safety-score-recorded.ts'
import type { SuppressionRule } from '#schemas/suppression.ts'
import { placeScores, type PlacedScore } from '../steps/place-score.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'
import { createRollupStore } from './rollup-store.ts'
import { createScoreStore } from './score-store.ts'
import { createSuppressionStore, deleteEndedSuppressions } from './suppression-store.ts'

const world = useErasingFixture()
const [known, unknown] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)]
const value = (hash: Buffer): FoundValue => ({ kind: 'phone_number', tool: null, hash })

/** Stores as a sink that reads the rules at each batch. */
const store = (scores: readonly PlacedScore[], partition = 0) =>
  createScoreStore(world.pool, createRollupStore(), createSuppressionStore(Date.now, 0)).store(
    scores,
    partition,
    () => [],
  )

async function storedCall(projectId: string): Promise<LoggedCall> {
  const call = sampleCall(projectId)
  await world.fixture.store([call])
  return call
}

const scoreOf = (call: LoggedCall, changes: Partial<Score> = {}, runId?: string) =>
  placeScores(
    sampleScoredCall(call, {
      scores: [
        sampleScore(call.project_id, call.id, {
          ...{ severity: 'high', score_value: 4, found_values: [value(known)], ...changes },
          ...(runId !== undefined && { id: scoreId(call.project_id, call.id, 'pii_detection', runId) }),
        }),
      ],
      ...(runId !== undefined && { run_id: runId }),
    }),
  )

async function suppress(
  projectId: string,
  changes: Partial<SuppressionRule> & { revoked_at?: Date } = {},
): Promise<string> {
  const rule = {
    ...{ id: newId('suppression'), scorer_name: 'pii_detection', kind: null, agent_name: null },
    ...{ tool_name: null, has_value: false, value_hash: null, max_severity: 'high', expires_at: null },
    ...{ revoked_at: null, ...changes },
  }
  await world.pool.query(
    `insert into suppressions (id, project_id, scorer_name, kind, agent_name, tool_name, has_value, value_hash, max_severity, reason,
       author, author_kind, created_at, expires_at, revoked_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'known', 'ana', 'person', now() - interval '1 day', $10, $11)`,
    [
      idToUuid(rule.id),
      idToUuid(projectId),
      rule.scorer_name,
      rule.kind,
      rule.agent_name,
      rule.tool_name,
      rule.has_value,
      rule.value_hash,
      rule.max_severity,
      rule.expires_at,
      rule.revoked_at,
    ],
  )
  return rule.id
}

async function marksOf(projectId: string): Promise<(string | null)[]> {
  const { rows } = await world.pool.query<{ suppressed_by: string | null }>(
    'select suppressed_by from safety_scores where project_id = $1 order by request_created_at, id',
    [idToUuid(projectId)],
  )
  return rows.map(({ suppressed_by }) => suppressed_by)
}

async function coveredBy(id: string): Promise<number> {
  const { rows } = await world.pool.query<{ covered: string }>(
    'select coalesce(sum(covered), 0) as covered from suppression_counts where suppression_id = $1',
    [idToUuid(id)],
  )
  return Number(rows[0]?.covered)
}

const past = new Date(Date.now() - 60_000)

test('a score is marked and counted once, however often and in whatever batches it comes', async () => {
  const projectId = await world.fixture.addProject()
  const id = await suppress(projectId, { has_value: true, value_hash: known })
  const calls = [await storedCall(projectId), await storedCall(projectId), await storedCall(projectId)]
  const [first, second, third] = calls.map((call) => scoreOf(call)) as [
    PlacedScore[],
    PlacedScore[],
    PlacedScore[],
  ]
  const { added } = await store([...first, ...second, ...first])
  expect(added.map(({ suppressions }) => suppressions)).toEqual([[idToUuid(id)], [idToUuid(id)]])
  await store([...second, ...third])
  // After a rebalance another partition's sink may get it.
  await store([...first, ...third], 1)
  expect(await marksOf(projectId)).toEqual([idToUuid(id), idToUuid(id), idToUuid(id)])
  expect(await coveredBy(id)).toBe(3)
})

test('a failed transaction counts nothing', async () => {
  const projectId = await world.fixture.addProject()
  const id = await suppress(projectId)
  const scores = scoreOf(await storedCall(projectId))
  const failing = createScoreStore(world.pool, createRollupStore(), {
    ...createSuppressionStore(Date.now, 0),
    async count(client, added, lane) {
      await createSuppressionStore().count(client, added, lane)
      throw new Error('ended here')
    },
  })
  await expect(failing.store(scores, 0, () => [])).rejects.toThrow('ended here')
  expect([await marksOf(projectId), await coveredBy(id)]).toEqual([[], 0])
  await store(scores)
  expect(await coveredBy(id)).toBe(1)
})

test("a suppression never touches another project's scores", async () => {
  const [mine, theirs] = [await world.fixture.addProject(), await world.fixture.addProject()]
  const id = await suppress(mine)
  const scores = [...scoreOf(await storedCall(theirs)), ...scoreOf(await storedCall(mine))]
  await store(scores)
  expect([await marksOf(mine), await marksOf(theirs)]).toEqual([[idToUuid(id)], [null]])
  expect(await coveredBy(id)).toBe(1)
  const { rows } = await world.pool.query('select from suppression_counts where project_id = $1', [
    idToUuid(theirs),
  ])
  expect(rows).toEqual([])
})

test.each<[string, Partial<SuppressionRule> & { revoked_at?: Date }, Partial<Score>]>([
  ['expired', { expires_at: past }, {}],
  ['revoked', { revoked_at: past }, {}],
  ['of another value', { has_value: true, value_hash: unknown }, {}],
  [
    'of a value beside an unknown one',
    { has_value: true, value_hash: known },
    { found_values: [value(known), value(unknown)] },
  ],
  ['that covers no critical score', {}, { severity: 'critical', score_value: 5 }],
])('a suppression %s does nothing', async (_name, rule, score) => {
  const projectId = await world.fixture.addProject()
  const id = await suppress(projectId, rule)
  await store(scoreOf(await storedCall(projectId), score))
  expect([await marksOf(projectId), await coveredBy(id)]).toEqual([[null], 0])
})

test('safe scores are not marked; a replay is, and is not counted', async () => {
  const projectId = await world.fixture.addProject()
  const id = await suppress(projectId)
  const call = await storedCall(projectId)
  await store(scoreOf(call, { score_label: 'safe', score_value: 1, severity: null, found_values: null }))
  await store(scoreOf(call, {}, newId('run')))
  expect((await marksOf(projectId)).toSorted()).toEqual([null, idToUuid(id)].toSorted())
  expect(await coveredBy(id)).toBe(0)
})

test('rules are read again after seconds', async () => {
  let nowMs = Date.now()
  const suppressions = createSuppressionStore(() => nowMs)
  const projectId = await world.fixture.addProject()
  const scores = scoreOf(await storedCall(projectId))
  const client = await world.pool.connect()
  try {
    const marks = async () =>
      (await suppressions.mark(client, scores)).map(({ suppressions: by }) => by.length)
    expect(await marks()).toEqual([0])
    await suppress(projectId)
    expect(await marks()).toEqual([0])
    nowMs += 5_000
    expect(await marks()).toEqual([1])
  } finally {
    client.release()
  }
})

test('what was found is stored as hexadecimal digits beside the details', async () => {
  const projectId = await world.fixture.addProject()
  const hostile = { kind: 'a\u0000"\\u0000', tool: 'b\u0000\ud83d', hash: known }
  await store(scoreOf(await storedCall(projectId), { found_values: [hostile], found_more: true }))
  const { rows } = await world.pool.query(
    'select found_values, found_more from safety_score_details where project_id = $1',
    [idToUuid(projectId)],
  )
  const [row] = rows as [{ found_values: { hash: string }[]; found_more: boolean }]
  expect([row.found_values[0]?.hash, row.found_more]).toEqual([known.toString('hex'), true])
})

test('an ended suppression is deleted after 400 days, with its counts; another is not', async () => {
  const projectId = await world.fixture.addProject()
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
  const old = await suppress(projectId)
  await store(scoreOf(await storedCall(projectId)))
  await world.pool.query('update suppressions set revoked_at = $2 where id = $1', [
    idToUuid(old),
    daysAgo(401),
  ])
  const kept = [
    await suppress(projectId),
    await suppress(projectId, { revoked_at: daysAgo(399) }),
    await suppress(projectId, { expires_at: new Date(Date.now() + 60_000) }),
  ]
  const client = await world.pool.connect()
  try {
    expect(await deleteEndedSuppressions(client)).toBe(1)
  } finally {
    client.release()
  }
  const { rows } = await world.pool.query<{ id: string }>(
    'select id from suppressions where project_id = $1 order by id',
    [idToUuid(projectId)],
  )
  expect(rows.map(({ id }) => id)).toEqual(kept.map(idToUuid).toSorted())
  expect(await coveredBy(old)).toBe(0)
})

test('a suppression that was made from a score is erased with its call, others of the project with the project', async () => {
  const projectId = await world.fixture.addProject()
  const call = await storedCall(projectId)
  await storedCall(projectId)
  const [made, other] = [await suppress(projectId), await suppress(projectId)]
  await world.pool.query('update suppressions set request_id = $2 where id = $1', [
    idToUuid(made),
    idToUuid(call.id),
  ])
  const left = async () =>
    (
      await world.pool.query<{ id: string }>('select id from suppressions where project_id = $1', [
        idToUuid(projectId),
      ])
    ).rows.map(({ id }) => id)
  await world.fixture.erased(await world.fixture.erase(projectId, 'request', idToUuid(call.id)), '1')
  expect(await left()).toEqual([idToUuid(other)])
  await world.fixture.erased(await world.fixture.erase(projectId, 'project', ''), '1')
  expect(await left()).toEqual([])
})
