import { expect, test } from '@jest/globals'
import { idToUuid, liveRunId, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { BreakingPool } from '../testing/breaking-pool.ts'
import { createFindingFixture } from '../testing/finding-fixture.ts'
import { createFindingReader } from '../testing/read-findings.ts'
import { many } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'

const world = useErasingFixture()
const { storedCalls, scoresOf, store, score, promote } = createFindingFixture(world)
const { eventsOf } = createFindingReader(() => world.pool)

const found = (kind: string, index: number) => ({
  found_values: [{ kind, tool: null, hash: Buffer.alloc(16, index) }],
})
const safe = { score_value: 1, score_label: 'safe', severity: null, found_values: null } as const

/** What is stored of findings, and the same by a recount of the live scores. */
async function storedAndRecounted(projectId: string) {
  const byProject = [idToUuid(projectId), idToUuid(liveRunId(projectId))]
  const stored = await world.pool.query(
    `select f.id, coalesce((select sum(c.count)::integer from finding_counters c where c.project_id = f.project_id and c.finding_id = f.id), 0) as count,
       (select array_agg(distinct encode(v.hash, 'hex')) from finding_values v where v.project_id = f.project_id and v.finding_id = f.id) as values
     from findings f where f.project_id = $1 and $2::uuid is not null order by f.id`,
    byProject,
  )
  const recounted = await world.pool.query(
    `select f.id, count(distinct s.id)::integer as count, array_agg(distinct v ->> 'hash') filter (where v is not null) as values
     from findings f left join safety_scores s on s.project_id = f.project_id and s.finding_id = f.id and s.run_id = $2
     left join safety_score_details d on d.project_id = s.project_id and d.score_id = s.id
     left join jsonb_array_elements(d.found_values) v on true
     where f.project_id = $1 group by f.id order by f.id`,
    byProject,
  )
  return { stored: stored.rows as unknown[], recounted: recounted.rows as unknown[] }
}

/** State, severity and revision of the findings, with their history and events. */
async function standingsOf(projectId: string) {
  const { rows } = await world.pool.query(
    `select f.evidence_kind as kind, f.state, f.severity, f.revision,
       (select count(*)::integer from finding_changes h where h.project_id = f.project_id and h.finding_id = f.id) as changes
     from findings f where f.project_id = $1 order by 1`,
    [idToUuid(projectId)],
  )
  const events = (await eventsOf(projectId)).map(
    ([event, data]) => `${event} ${String(data['evidence_kind'])}`,
  )
  return { findings: rows as unknown[], events }
}

/** Calls, with a finding that the next ones make worse and one that they open again. */
async function before(): Promise<{ batch: ReturnType<typeof scoresOf>; projectId: string }> {
  const calls = (await storedCalls(5)) as [LoggedCall, ...LoggedCall[]]
  const [known, done, worse, again, fresh] = calls as [
    LoggedCall,
    LoggedCall,
    LoggedCall,
    LoggedCall,
    LoggedCall,
  ]
  const { project_id: projectId } = known
  await store([
    ...scoresOf(known, { ...found('email', 1), severity: 'medium', score_value: 3 }),
    ...scoresOf(done, found('iban', 2)),
  ])
  await world.pool.query(
    `update findings set state = 'resolved', closed_at = now() where project_id = $1 and evidence_kind = 'iban'`,
    [idToUuid(projectId)],
  )
  const batch = [
    ...[...scoresOf(worse, found('email', 3)), ...scoresOf(again, found('iban', 4))],
    ...[...scoresOf(fresh, found('phone', 5)), ...scoresOf(known, found('email', 1))],
  ]
  return { batch, projectId }
}

test('a sink that is lost at any statement leaves nothing, and the redelivery counts all once', async () => {
  const seen: number[] = []
  for (let at = 1; ; at++) {
    const { batch, projectId } = await before()
    const untouched = [await storedAndRecounted(projectId), await standingsOf(projectId)]
    const pool = new BreakingPool(world.database.url, at)
    const ended = await store(batch, 0, pool).then(
      () => 'stored',
      () => 'lost',
    )
    const { isBroken } = pool
    await pool.end()
    if (!isBroken) break
    seen.push(at)
    expect(ended).toBe('lost')
    expect([await storedAndRecounted(projectId), await standingsOf(projectId)]).toEqual(untouched)
    await store(batch)
    await store(batch, 1)
    const { stored, recounted } = await storedAndRecounted(projectId)
    expect(stored).toEqual(recounted)
    expect(await standingsOf(projectId)).toEqual({
      findings: [
        { kind: 'email', state: 'open', severity: 'critical', revision: 0, changes: 0 },
        { kind: 'iban', state: 'open', severity: 'critical', revision: 1, changes: 1 },
        { kind: 'phone', state: 'open', severity: 'critical', revision: 0, changes: 0 },
      ],
      events: expect.arrayContaining([
        ...['finding_opened email', 'finding_opened iban'],
        ...['finding_reopened iban', 'finding_opened phone'],
      ]) as unknown,
    })
    expect((await eventsOf(projectId)).length).toBe(4)
  }
  // Begin, what stores the scores, eight of findings, verdicts, roll-ups, commit.
  expect(seen.length).toBeGreaterThan(20)
})

test('a promotion that is lost at any statement leaves findings as they were, and the next one is exact', async () => {
  const [one, two, three] = (await storedCalls(3)) as [LoggedCall, LoggedCall, LoggedCall]
  const { project_id: projectId } = one
  const runId = newId('run')
  await score(one, found('email', 1))
  await score(two, { ...found('email', 2), severity: 'medium', score_value: 3 })
  await score(three, safe)
  await score(one, safe, runId)
  await score(two, found('email', 3), runId)
  await score(three, found('iban', 4), runId)
  const untouched = [await storedAndRecounted(projectId), await standingsOf(projectId)]
  let lost = 0
  for (let at = 1; ; at++) {
    const pool = new BreakingPool(world.database.url, at)
    const ended = await promote(one, runId, pool).then(
      () => 'promoted',
      () => 'lost',
    )
    const { isBroken } = pool
    await pool.end()
    if (!isBroken) break
    lost++
    expect(ended).toBe('lost')
    expect([await storedAndRecounted(projectId), await standingsOf(projectId)]).toEqual(untouched)
  }
  expect(lost).toBeGreaterThan(15)
  const { stored, recounted } = await storedAndRecounted(projectId)
  expect(stored).toEqual(recounted)
  expect(stored).toMatchObject([{ count: 1 }, { count: 1 }])
})

test('promotions while sinks store live scores: counts and values equal a recount', async () => {
  const calls = await storedCalls(160)
  const projectId = calls[0]?.project_id ?? ''
  const kindOf = (index: number) => ['email', 'iban', 'phone'][index % 3] ?? ''
  const [early, late] = [calls.slice(0, 60), calls.slice(60)]
  const runId = newId('run')
  await store(early.flatMap((call, index) => scoresOf(call, found(kindOf(index), index % 7))))
  await store(
    early.flatMap((call, index) => {
      const verdict = index % 4 === 0 ? safe : found(kindOf(index + (index % 2)), index % 5)
      return scoresOf(call, verdict, runId)
    }),
  )
  const [first] = early
  if (first === undefined) throw new Error('no calls')
  const promoting = (async () => {
    for (let time = 0; time < 5; time++) await promote(first, runId)
  })()
  const storing = many(4, async (partition) => {
    for (let at = 0; at < late.length; at += 5) {
      const batch = late.slice(at, at + 8).filter((_, index) => (at + index) % 4 <= partition)
      await store(
        batch.flatMap((call) => scoresOf(call, found(kindOf(late.indexOf(call)), late.indexOf(call) % 9))),
        partition,
      )
    }
  })
  await Promise.all([promoting, ...storing])
  const { stored, recounted } = await storedAndRecounted(projectId)
  expect(stored).toEqual(recounted)
  expect(stored.length).toBe(3)
  expect((await eventsOf(projectId)).filter(([event]) => event !== 'finding_opened')).toEqual([])
})
