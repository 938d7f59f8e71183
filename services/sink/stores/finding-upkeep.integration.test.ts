import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { maxFindings, otherName } from '#schemas/finding.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { createFindingFixture } from '../testing/finding-fixture.ts'
import { sampleCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'
import { deleteOldFindings, measureFindings } from './finding-upkeep.ts'
import { deleteContent, deleteOldFindingValues } from './retention-store.ts'

const world = useErasingFixture()
const safe = { score_value: 1, score_label: 'safe', severity: null, found_values: null } as const
const found = (index: number) => ({
  found_values: [{ kind: 'phone_number', tool: null, hash: Buffer.alloc(16, index) }],
})

const { storedCalls, score, promote, keptOf, comment } = createFindingFixture(world)

test('promotion counts again, opens what is new without an event, and keeps state and comments; back it is as before', async () => {
  const [one, two, three] = (await storedCalls(3)) as [LoggedCall, LoggedCall, LoggedCall]
  const projectId = one.project_id
  await score(one, found(1))
  await score(two, found(2))
  await score(three, safe)
  await comment(projectId)
  await world.pool.query(`update findings set state = 'acknowledged' where project_id = $1`, [
    idToUuid(projectId),
  ])
  const runId = newId('run')
  await score(one, safe, runId)
  await score(two, found(2), runId)
  await score(three, { found_values: [{ kind: 'email', tool: null, hash: Buffer.alloc(16, 3) }] }, runId)
  const phones = { kind: 'phone_number', state: 'acknowledged', comments: 1 }
  const before = [{ ...phones, count: 2, live: 2, values: 2 }]
  expect(await keptOf(projectId)).toEqual(before)
  await promote(one, runId)
  expect(await keptOf(projectId)).toEqual([
    { kind: 'email', state: 'open', count: 1, live: 1, values: 1, comments: 0 },
    { ...phones, count: 1, live: 1, values: 1 },
  ])
  const { rows } = await world.pool.query('select event from event_outbox where project_id = $1', [
    idToUuid(projectId),
  ])
  expect(rows).toEqual([{ event: 'finding_opened' }])
  await promote(one, runId)
  expect(await keptOf(projectId)).toEqual([
    { kind: 'email', state: 'open', count: 0, live: 0, values: 0, comments: 0 },
    ...before,
  ])
})

test('promoted scores of kinds for which there is no room are gathered by scorer, and counted there and back', async () => {
  const [one, two, three] = (await storedCalls(3)) as [LoggedCall, LoggedCall, LoggedCall]
  const projectId = one.project_id
  await score(one, found(1))
  for (const call of [two, three]) await score(call, safe)
  await world.pool.query(
    `insert into findings (project_id, id, scorer_name, evidence_kind, agent_name, tool_name, severity, state, revision, created_at, opened_at)
     select $1, gen_random_uuid(), 'old', n::text, '', '', 'high', 'open', 0, now(), now() from generate_series(1, $2) as n`,
    [idToUuid(projectId), maxFindings - 1],
  )
  const runId = newId('run')
  const ofKind = (kind: string, index: number) => ({
    found_values: [{ kind, tool: null, hash: Buffer.alloc(16, index) }],
  })
  await score(one, found(1), runId)
  await score(two, { ...ofKind('email', 2), severity: 'high', score_value: 4 }, runId)
  await score(three, ofKind('iban', 3), runId)
  const counted = async () => (await keptOf(projectId)).filter(({ count }) => count !== null)
  const known = { kind: 'phone_number', state: 'open', count: 1, live: 1, values: 1, comments: 0 }
  const gathered = { ...known, kind: '', count: 2, live: 2, values: 2 }
  await promote(one, runId)
  expect(await counted()).toEqual([gathered, known])
  await promote(one, runId)
  expect(await counted()).toEqual([{ ...gathered, count: 0, live: 0, values: 0 }, known])
  await promote(one, runId)
  expect(await counted()).toEqual([gathered, known])
  const { rows } = await world.pool.query(
    'select agent_name, tool_name, scorer_name, severity from findings where project_id = $1 and tool_name <> $2',
    [idToUuid(projectId), ''],
  )
  expect(rows).toEqual([
    { agent_name: otherName, tool_name: otherName, scorer_name: 'pii_detection', severity: 'critical' },
  ])
})

test('an erasure keeps counts and takes what the last call had; without a call the comments go too', async () => {
  const calls = (await storedCalls(3)) as [LoggedCall, LoggedCall, LoggedCall]
  const [one, two, three] = calls
  const projectId = one.project_id
  await score(one, found(1))
  await score(two, found(1))
  await score(three, found(2))
  await comment(projectId)
  const erase = async ({ id }: LoggedCall) =>
    world.fixture.erased(await world.fixture.erase(projectId, 'request', idToUuid(id)), '1')
  const kept = { kind: 'phone_number', state: 'open', count: 3 }
  await erase(two)
  expect(await keptOf(projectId)).toEqual([{ ...kept, live: 2, values: 2, comments: 1 }])
  await erase(one)
  expect(await keptOf(projectId)).toEqual([{ ...kept, live: 1, values: 1, comments: 1 }])
  await erase(three)
  expect(await keptOf(projectId)).toEqual([{ ...kept, live: 0, values: 0, comments: 0 }])
})

test('an erasure leaves comments on findings of other calls, also where those have expired', async () => {
  const [expired, erased] = (await storedCalls(2)) as [LoggedCall, LoggedCall]
  const projectId = expired.project_id
  await score(expired, found(1))
  await comment(projectId)
  await score(erased, { found_values: [{ kind: 'email', tool: null, hash: Buffer.alloc(16, 2) }] })
  await world.pool.query('delete from llm_requests where project_id = $1 and id = $2', [
    idToUuid(projectId),
    idToUuid(expired.id),
  ])
  const erasure = await world.fixture.erase(projectId, 'request', idToUuid(erased.id))
  await world.fixture.erased(erasure, '1')
  expect(await keptOf(projectId)).toMatchObject([
    { kind: 'email', live: 0, comments: 0 },
    { kind: 'phone_number', live: 0, comments: 1 },
  ])
})

test("an erased project's findings of calls that came later stay, without the older comments", async () => {
  const [early] = (await storedCalls(1)) as [LoggedCall]
  const projectId = early.project_id
  await score(early, found(1))
  await comment(projectId)
  const erasure = await world.fixture.erase(projectId, 'project', '')
  // Stored within its millisecond, a call would be of the erasure.
  await sleep(5)
  const atMs = Date.now() + 60_000
  const later = sampleCall(projectId, { id: newId('request', atMs), received_at: atMs })
  await world.fixture.store([later])
  await score(later, found(2))
  await world.fixture.erased(erasure, '1')
  expect(await keptOf(projectId)).toMatchObject([{ live: 1, comments: 0 }])
})

test('a finding that a sink counts while old ones are deleted stays', async () => {
  await world.pool.query('delete from findings')
  const [old, fresh] = (await storedCalls(2)) as [LoggedCall, LoggedCall]
  await score(old, found(1))
  await world.pool.query(`update findings set opened_at = now() - interval '401 days'`)
  await world.pool.query(`update finding_counters set last_seen_at = now() - interval '401 days'`)
  const [sink, upkeep] = [await world.pool.connect(), await world.pool.connect()]
  try {
    await sink.query('begin')
    await sink.query('select from findings where project_id = $1 for key share', [idToUuid(old.project_id)])
    await upkeep.query('begin')
    expect(await deleteOldFindings(upkeep)).toBe(0)
    await sink.query('update finding_counters set last_seen_at = now() where project_id = $1', [
      idToUuid(old.project_id),
    ])
    await sink.query('commit')
    expect(await deleteOldFindings(upkeep)).toBe(0)
    await upkeep.query('commit')
  } finally {
    for (const client of [sink, upkeep]) client.release()
  }
  await score(fresh, found(1))
  expect(await keptOf(old.project_id)).toMatchObject([{ count: 2 }])
})

test("an erased project's findings go with it, and no other project's", async () => {
  const [mine] = (await storedCalls(1)) as [LoggedCall]
  const [theirs] = (await storedCalls(1)) as [LoggedCall]
  await score(mine, found(1))
  await score(theirs, found(1))
  await world.fixture.erased(await world.fixture.erase(mine.project_id, 'project', ''), '1')
  expect(await keptOf(mine.project_id)).toEqual([])
  expect(await keptOf(theirs.project_id)).toMatchObject([{ count: 1, values: 1 }])
})

test('hashes go when the content of their last call goes', async () => {
  const [call] = (await storedCalls(1)) as [LoggedCall]
  await score(call, found(1))
  const client = await world.pool.connect()
  try {
    const [past, future] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)]
    await deleteOldFindingValues(client, past, 100)
    await deleteContent(client, idToUuid(call.project_id), past, 100)
    expect(await keptOf(call.project_id)).toMatchObject([{ values: 1 }])
    await deleteContent(client, idToUuid(call.project_id), future, 100)
    expect(await keptOf(call.project_id)).toMatchObject([{ values: 0, count: 1 }])
    await score({ ...call }, found(1))
    await deleteOldFindingValues(client, future, 100)
    expect(await keptOf(call.project_id)).toMatchObject([{ values: 0, count: 1 }])
  } finally {
    client.release()
  }
})

test('findings without a call for 400 days are deleted; late ones are measured by severity', async () => {
  await world.pool.query('delete from findings')
  const [call] = (await storedCalls(1)) as [LoggedCall]
  await score(call, { ...found(1), severity: 'critical' })
  const late = async () => (await measureFindings(world.pool)).find(({ severity }) => severity === 'critical')
  expect(await late()).toEqual({ severity: 'critical', open: 1, late: 0 })
  await world.pool.query(`update findings set opened_at = now() - interval '5 hours'`)
  expect(await late()).toEqual({ severity: 'critical', open: 1, late: 1 })
  const client = await world.pool.connect()
  try {
    await client.query(`update findings set opened_at = now() - interval '401 days'`)
    expect(await deleteOldFindings(client)).toBe(0)
    await client.query(`update finding_counters set last_seen_at = now() - interval '401 days'`)
    expect(await deleteOldFindings(client)).toBe(1)
  } finally {
    client.release()
  }
  expect(await keptOf(call.project_id)).toEqual([])
})
