import { expect, test } from '@jest/globals'
import type { FindingState } from '#schemas/event-data.ts'
import { idFromUuid, idToUuid, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { FoundValue, Score } from '#schemas/safety-score-recorded.ts'
import { placeScores, type PlacedScore } from '../steps/place-score.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'
import { createFindingReader } from '../testing/read-findings.ts'
import { createFindingStore } from './finding-store.ts'
import { createRollupStore } from './rollup-store.ts'
import { createScoreStore } from './score-store.ts'
import { createSuppressionStore } from './suppression-store.ts'

const world = useErasingFixture()
const hashOf = (index: number) => {
  const hash = Buffer.alloc(16)
  hash.writeUInt32BE(index)
  return hash
}
const value = (index: number, kind = 'phone_number'): FoundValue => ({
  ...{ kind, tool: null, hash: hashOf(index) },
})

const storeOf = (maxPerProject?: number) =>
  createScoreStore(
    world.pool,
    createRollupStore(),
    createSuppressionStore(Date.now, 0),
    createFindingStore(maxPerProject === undefined ? {} : { maxPerProject }),
  )

/** As a sink stores what it reads from a partition. */
const store = (scores: readonly PlacedScore[], partition = 0, maxPerProject?: number) =>
  storeOf(maxPerProject).store(scores, partition, () => [])

async function storedCalls(
  projectId: string,
  count: number,
  changes: Partial<LoggedCall> = {},
): Promise<LoggedCall[]> {
  const calls = many(count, () => sampleCall(projectId, changes))
  await world.fixture.store(calls)
  return calls
}

const scoreOf = (call: LoggedCall, changes: Partial<Score> = {}, runId?: string) =>
  placeScores(
    sampleScoredCall(call, {
      scores: [
        sampleScore(call.project_id, call.id, {
          ...{ severity: 'high', score_value: 4, found_values: [value(1)], ...changes },
          ...(runId !== undefined && { id: scoreId(call.project_id, call.id, 'pii_detection', runId) }),
        }),
      ],
      ...(runId !== undefined && { run_id: runId }),
    }),
  )

const { findingsOf, eventsOf, setState } = createFindingReader(() => world.pool)

test('ledger: with redelivery and four sinks at once every failing score counts once, in one finding', async () => {
  const projectId = await world.fixture.addProject()
  const agents = ['a', 'b', 'c']
  const calls = (
    await Promise.all(agents.map((agent_name) => storedCalls(projectId, 60, { agent_name })))
  ).flat()
  const scores = calls.map((call, index) => scoreOf(call, { found_values: [value(index % 50)] }))
  const batches = many(24, (index) => scores.slice((index % 12) * 15, (index % 12) * 15 + 22).flat())
  await Promise.all(
    many(4, async (partition) => {
      for (const [index, batch] of batches.entries())
        if (index % 4 === partition || index % 3 === partition % 3) await store(batch, partition)
    }),
  )
  await store(scores.flat(), 5)
  const findings = await findingsOf(projectId)
  const idsOf = (agent: string) =>
    calls
      .filter(({ agent_name }) => agent_name === agent)
      .map(({ id }) => idToUuid(id))
      .toSorted()
  const valuesOf = (agent: string) =>
    new Set(calls.flatMap(({ agent_name }, index) => (agent_name === agent ? [index % 50] : []))).size
  expect(
    findings.map(({ agent_name, count, values, first, last }) => ({
      ...{ agent_name, count, values, first, last },
    })),
  ).toEqual(
    agents.map((agent) => ({
      ...{ agent_name: agent, count: 60, values: valuesOf(agent) },
      ...{ first: idsOf(agent).at(0), last: idsOf(agent).at(-1) },
    })),
  )
  const { rows } = await world.pool.query(
    'select finding_id, count(*)::integer as n from safety_scores where project_id = $1 group by 1',
    [idToUuid(projectId)],
  )
  expect(new Map(rows.map(({ finding_id, n }) => [finding_id, n]))).toEqual(
    new Map(findings.map(({ id }) => [id, 60])),
  )
  expect((await eventsOf(projectId)).map(([event]) => event)).toEqual(many(3, () => 'finding_opened'))
})

test('a flood of 10,000 of one kind is one finding_opened, and counts at most the first 1,000 values', async () => {
  const projectId = await world.fixture.addProject()
  for (let batch = 0; batch < 10; batch++) {
    const calls = await storedCalls(projectId, 1_000)
    await store(
      calls.flatMap((call, index) => scoreOf(call, { found_values: [value(batch * 1_000 + index)] })),
    )
  }
  expect(await findingsOf(projectId)).toMatchObject([{ count: 10_000, values: 1_000 }])
  const events = await eventsOf(projectId)
  expect(events).toMatchObject([
    [
      'finding_opened',
      {
        ...{ state: 'open', previous_state: null, scorer_name: 'pii_detection', severity: 'high' },
        ...{ evidence_kind: 'phone_number', agent_name: 'support-bot', tool_name: null, count: 1_000 },
        ...{ owasp_category: 'LLM02', changed_by: null },
      },
    ],
  ])
})

test('a batch with more values than are left of 1,000 stores just those, and what is known goes on', async () => {
  const projectId = await world.fixture.addProject()
  const beginMs = Date.now() - 1_400
  const calls = many(1_400, (index) => sampleCall(projectId, { id: newId('request', beginMs + index) }))
  await world.fixture.store(calls)
  const scores = calls.map((call, index) => scoreOf(call, { found_values: [value(index)] }))
  await store(scores.slice(0, 900).flat())
  await store(scores.slice(700).flat())
  const { rows } = await world.pool.query<{ hash: Buffer }>(
    'select hash from finding_values where project_id = $1 order by hash',
    [idToUuid(projectId)],
  )
  expect(rows.map(({ hash }) => hash)).toEqual(many(1_000, hashOf))
  const [again] = await storedCalls(projectId, 1)
  if (again === undefined) throw new Error('no call')
  await store(scoreOf(again, { found_values: [value(3), value(2_000)] }))
  const last = await world.pool.query<{ last: string }>(
    'select last_request_id as last from finding_values where project_id = $1 and hash = $2',
    [idToUuid(projectId), hashOf(3)],
  )
  expect(last.rows).toEqual([{ last: idToUuid(again.id) }])
  expect(await findingsOf(projectId)).toMatchObject([{ count: 1_401, values: 1_000 }])
})

test('scores tell their finding, its state and the first of it', async () => {
  const projectId = await world.fixture.addProject()
  const [one, two, three] = (await storedCalls(projectId, 3)) as [LoggedCall, LoggedCall, LoggedCall]
  const first = await store([...scoreOf(one), ...scoreOf(two)])
  const id = (await findingsOf(projectId))[0]?.id ?? ''
  const finding = { id: idFromUuid('finding', id), state: 'open' }
  expect(first.added.map(({ finding: told }) => told)).toEqual([
    { ...finding, isFirst: true },
    { ...finding, isFirst: false },
  ])
  await setState(projectId, 'acknowledged')
  const later = await store([...scoreOf(one), ...scoreOf(three)])
  expect(later.added.map(({ finding: told }) => told)).toEqual([
    { ...finding, state: 'acknowledged', isFirst: false },
  ])
})

test.each<[FindingState, number | null, FindingState, string[]]>([
  ['acknowledged', null, 'acknowledged', []],
  ['resolved', null, 'open', ['finding_reopened']],
  ['false_alarm', null, 'false_alarm', []],
  ['muted', 3_600_000, 'muted', []],
  ['muted', -1_000, 'open', ['finding_reopened']],
])('one that is %s (until %p) and comes again is %s', async (state, mutedMs, after, events) => {
  const projectId = await world.fixture.addProject()
  const [first, ...others] = (await storedCalls(projectId, 3)) as [LoggedCall, ...LoggedCall[]]
  await store(scoreOf(first))
  await setState(projectId, state, mutedMs === null ? null : new Date(Date.now() + mutedMs))
  await Promise.all(
    others.map((call, partition) =>
      store(
        [first, call].flatMap((of) => scoreOf(of)),
        partition,
      ),
    ),
  )
  expect(await findingsOf(projectId)).toMatchObject([{ state: after, count: 3, revision: events.length }])
  const raised = (await eventsOf(projectId)).slice(1)
  expect(raised.map(([event]) => event)).toEqual(events)
  for (const [, data] of raised) expect(data).toMatchObject({ state: 'open', previous_state: state })
  const { rows } = await world.pool.query(
    'select before, after, actor_kind from finding_changes where project_id = $1',
    [idToUuid(projectId)],
  )
  expect(rows).toMatchObject(
    events.map(() => ({ before: { state }, after: { state: 'open', muted_until: null }, actor_kind: null })),
  )
})

test('the severity is the worst of its scores, whatever their order', async () => {
  const projectId = await world.fixture.addProject()
  const [one, two, three] = (await storedCalls(projectId, 3)) as [LoggedCall, LoggedCall, LoggedCall]
  await store(scoreOf(one, { severity: 'medium', score_value: 3 }))
  await store(scoreOf(two, { severity: 'critical', score_value: 5 }))
  await store(scoreOf(three, { severity: 'high' }))
  expect(await findingsOf(projectId)).toMatchObject([{ severity: 'critical', count: 3 }])
})

test('red teams, replays and suppressed scores make none, and reopen none', async () => {
  const projectId = await world.fixture.addProject()
  const [attack] = await storedCalls(projectId, 1, { source: 'redteam' })
  const [call, known] = await storedCalls(projectId, 2)
  if (attack === undefined || call === undefined || known === undefined) throw new Error('no calls')
  await store(scoreOf(attack))
  await store(scoreOf(call, {}, newId('run')))
  expect(await findingsOf(projectId)).toEqual([])
  await store(scoreOf(call))
  await setState(projectId, 'resolved')
  await world.pool.query(
    `insert into suppressions (id, project_id, scorer_name, has_value, max_severity, reason, author, author_kind, created_at)
     values ($1, $2, 'pii_detection', false, 'high', 'known', 'ana', 'person', now())`,
    [idToUuid(newId('suppression')), idToUuid(projectId)],
  )
  const { added } = await store(scoreOf(known))
  expect(added).toMatchObject([{ finding: null, findingUuid: null }])
  expect(await findingsOf(projectId)).toMatchObject([{ state: 'resolved', count: 1 }])
})

test('a failed transaction counts and opens nothing; the next one does, once', async () => {
  const projectId = await world.fixture.addProject()
  const [call] = (await storedCalls(projectId, 1)) as [LoggedCall]
  const failing = storeOf().store(scoreOf(call), 0, () => {
    throw new Error('ended here')
  })
  await expect(failing).rejects.toThrow('ended here')
  expect([await findingsOf(projectId), await eventsOf(projectId)]).toEqual([[], []])
  await store(scoreOf(call))
  expect(await findingsOf(projectId)).toMatchObject([{ count: 1 }])
})

test("two projects' findings of one kind are two", async () => {
  const projects = [await world.fixture.addProject(), await world.fixture.addProject()]
  const calls = (await Promise.all(projects.map((projectId) => storedCalls(projectId, 1)))).flat()
  await store(calls.flatMap((call) => scoreOf(call)))
  const found = await Promise.all(projects.map(findingsOf))
  expect(found.map((findings) => findings.map(({ count }) => count))).toEqual([[1], [1]])
  expect(found[0]?.[0]?.id).not.toBe(found[1]?.[0]?.id)
})

test('kinds for which a project has no room are gathered by scorer, and the sink says how many', async () => {
  const projectId = await world.fixture.addProject()
  const calls = (
    await Promise.all(many(5, (index) => storedCalls(projectId, 2, { agent_name: `agent ${index}` })))
  ).flat()
  const scores = calls.flatMap((call) => scoreOf(call))
  const { findingOverflow } = await store(scores.slice(0, 6), 0, 2)
  expect(findingOverflow).toBe(2)
  await store(scores, 0, 2)
  const findings = await findingsOf(projectId)
  expect(findings.map(({ tool_name, count }) => [tool_name, count])).toEqual([
    ['(other)', 6],
    ['', 2],
    ['', 2],
  ])
})
