import { expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { forgetErased } from '../stores/erase-calls.ts'
import { addWebhook } from '../testing/add-webhook.ts'
import { all } from '../testing/erasing-fixture.ts'
import { foldAll } from '../testing/fold-all.ts'
import { many, sampleCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'

const world = useErasingFixture([-2, -1, 0, 1])

test.each<[scope: 'request' | 'session' | 'user', subjectOf: (call: LoggedCall) => string]>([
  ['request', ({ id }) => idToUuid(id)],
  ['session', ({ session_id }) => session_id ?? ''],
  ['user', ({ user_id }) => user_id ?? ''],
])('a %s is erased with all that hangs on it, and nothing of it comes back', async (scope, subjectOf) => {
  const [projectId, otherId] = [await world.fixture.addProject(), await world.fixture.addProject()]
  const webhookId = await addWebhook(world.pool, projectId)
  const mine = sampleCall(projectId, { session_id: 's-erased', user_id: 'u-erased' })
  const kept = many(3, () => sampleCall(projectId, { session_id: 's-kept', user_id: 'u-kept' }))
  const same = sampleCall(otherId, { id: mine.id, session_id: 's-erased', user_id: 'u-erased' })
  await world.fixture.store([mine, ...kept, same])
  await world.fixture.score([mine, ...kept, same])
  await world.fixture.fanOut([mine, ...kept], webhookId)
  await world.pool.query(
    `insert into dead_letters (id, cluster, topic, partition, "offset", code, message, project_id, request_id, dead_at)
     values (gen_random_uuid(), 'c', 't', 0, 0, 'X', 'x', $1, $2, now())`,
    [idToUuid(projectId), idToUuid(mine.id)],
  )
  expect(await world.fixture.countsOf(projectId)).toEqual({ ...all(4), score_reviews: 0 })
  await world.pool.query(
    `insert into score_reviews select gen_random_uuid(), project_id, request_id, request_created_at, id, scorer_name, scorer_version, score_label,
       'safe', false, 'somebody', 'quotes it', now() from safety_scores where project_id = $1`,
    [idToUuid(projectId)],
  )
  const erasure = await world.fixture.erase(projectId, scope, subjectOf(mine))
  await world.fixture.erased(erasure, '1')
  expect(await world.fixture.countsOf(projectId)).toEqual(all(3))
  expect(await world.fixture.countsOf(otherId)).toEqual({
    ...all(1),
    webhook_deliveries: 0,
    score_reviews: 0,
  })
  expect(
    (await world.pool.query('select from dead_letters where project_id = $1', [idToUuid(projectId)]))
      .rowCount,
  ).toBe(0)

  // Redelivered, sent again, redriven: dropped; as are its scores and its events, wherever they were.
  expect((await world.fixture.store([mine], { redelivered: true })).dispositions).toEqual(['erased'])
  expect((await world.fixture.store([mine])).dispositions).toEqual(['erased'])
  expect(await world.fixture.score([mine])).toMatchObject({ added: [], missed: 1 })
  await world.fixture.fanOut([mine], webhookId)
  expect(await world.fixture.countsOf(projectId)).toEqual(all(3))

  // What the same user does afterwards is another matter.
  const later = sampleCall(projectId, {
    id: newId('request', Date.now() + 60_000),
    received_at: Date.now() + 60_000,
    session_id: 's-erased',
    user_id: 'u-erased',
  })
  expect((await world.fixture.store([later])).dispositions).toEqual(['stored'])
})

test('a user’s name leaves the counts of an hour with the last call; the sums stay', async () => {
  const projectId = await world.fixture.addProject()
  const of = (user_id: string, session_id: string) =>
    many(2, () => sampleCall(projectId, { user_id, session_id }))
  const calls = [...of('u-gone', 's-1'), ...of('u-gone', 's-2'), ...of('u-kept', 's-2')]
  await world.fixture.store(calls)
  await world.fixture.score(calls)
  await foldAll(world.pool, 60)
  expect(await countsByUser(projectId)).toEqual([['u-gone', 4], ['u-kept', 2]]) // prettier-ignore
  await world.fixture.erased(await world.fixture.erase(projectId, 'session', 's-1'), '2')
  expect(await countsByUser(projectId)).toEqual([['u-gone', 4], ['u-kept', 2]]) // prettier-ignore
  await world.fixture.erased(await world.fixture.erase(projectId, 'user', 'u-gone'), '2')
  const left = [['others', 4], ['u-kept', 2]] // prettier-ignore
  expect(await countsByUser(projectId)).toEqual(left)
  await foldAll(world.pool, 60)
  expect(await countsByUser(projectId)).toEqual(left)
})

/** Calls by the name they are counted by, as reports read them: days, and what has come of them since. */
async function countsByUser(projectId: string): Promise<unknown[][]> {
  const { rows } = await world.pool.query<{ name: string; by_hour: number; by_day: number }>(
    `with counted as (
       select user_id, is_other, calls as by_hour, case when lane >= 0 then calls else 0 end as by_day from user_rollups where project_id = $1
       union all select user_id, is_other, 0, calls from user_rollups_by_day where project_id = $1
     ) select case when is_other then 'others' else user_id end as name, sum(by_hour)::integer as by_hour, sum(by_day)::integer as by_day
     from counted group by 1 order by 1`,
    [idToUuid(projectId)],
  )
  expect(rows.map(({ by_day }) => by_day)).toEqual(rows.map(({ by_hour }) => by_hour))
  return rows.map(({ name, by_hour }) => [name, by_hour])
}

test('an erasure is of what was made or taken before it, however late that comes, and of its own project', async () => {
  const [projectId, goneId] = [await world.fixture.addProject(), await world.fixture.addProject()]
  // Stored before, under a time that lies ahead.
  await world.fixture.store([
    sampleCall(projectId, { id: newId('request', Date.now() + 60_000), user_id: 'u-erased' }),
  ])
  await world.fixture.erased(await world.fixture.erase(projectId, 'user', 'u-erased'), '1')
  await world.fixture.erase(goneId, 'project', '')
  const comes = async (madeAfterMs: number, takenAfterMs: number, user: string) => {
    const call = sampleCall(projectId, {
      id: newId('request', Date.now() + madeAfterMs),
      received_at: Date.now() + takenAfterMs,
      user_id: user,
    })
    return (await world.fixture.store([call])).dispositions
  }
  // From a spool; of a client whose clock is ahead.
  expect(await comes(-60_000, 60_000, 'u-erased')).toEqual(['erased'])
  expect(await comes(60_000, -60_000, 'u-erased')).toEqual(['erased'])
  expect(await comes(-60_000, -60_000, 'u-kept')).toEqual(['stored'])
})

test('an erasure is not done before a sink has ended that began without knowing of it', async () => {
  const projectId = await world.fixture.addProject()
  const call = sampleCall(projectId, { user_id: 'u1' })
  const client = await world.pool.connect()
  try {
    // As a sink's transaction that has looked for erasures and found none.
    await client.query('begin')
    await client.query(`insert into sink_positions values ('c', 'slow', 0, 0)`)
    const erasure = await world.fixture.erase(projectId, 'user', 'u1')
    await world.fixture.makeRounds(5)
    expect(await world.fixture.statusOf(erasure)).toEqual({ status: 'erasing', erased_calls: '0' })
    await client.query(
      `insert into llm_requests (project_id, id, created_at, source, model, user_id, zero_content_retention, received_at)
       values ($1, $2, $3, 'api', 'm', 'u1', false, $3)`,
      [idToUuid(projectId), idToUuid(call.id), new Date(call.received_at)],
    )
    await client.query('commit')
    await world.fixture.erased(erasure, '1')
    expect((await world.fixture.countsOf(projectId))['llm_requests']).toBe(0)
  } finally {
    client.release()
  }
})

test('notes of erased calls go when Kafka has nothing of them, erasures some time later', async () => {
  const projectId = await world.fixture.addProject()
  const call = sampleCall(projectId)
  await world.fixture.store([call])
  const erasure = await world.fixture.erase(projectId, 'request', idToUuid(call.id))
  await world.fixture.erased(erasure, '1')
  const forget = async (keptUntil: string) => {
    await world.pool.query(`update erasures set kept_in_kafka_until = now() + $2::interval where id = $1`, [
      erasure,
      keptUntil,
    ])
    const client = await world.pool.connect()
    await forgetErased(client, 90)
    client.release()
    const notes = await world.pool.query('select from erased_requests where erasure_id = $1', [erasure])
    return [
      notes.rowCount,
      (await world.pool.query('select from erasures where id = $1', [erasure])).rowCount,
    ]
  }
  expect(await forget('1 day')).toEqual([1, 1])
  expect(await forget('-1 day')).toEqual([0, 1])
  expect(await forget('-91 days')).toEqual([0, 0])
})

/** A red-team run with one attempt, whose call it resolves to. `heldFor`: somebody carries it out. */
async function addRun(projectId: string, { heldFor = null as string | null, atMs = Date.now() } = {}) {
  const [run, call] = [
    newId('run', atMs),
    sampleCall(projectId, { id: newId('request', atMs), received_at: atMs }),
  ]
  await world.pool.query(
    `insert into redteam_runs (id, project_id, agent_name, target, options, seed, runner, status, created_at, lease_until)
     values ($1, $2, 'a', '{}', '{}', '1', 'worker', $3, $4, now() + $5::interval)`,
    [
      ...[idToUuid(run), idToUuid(projectId), heldFor === null ? 'done' : 'running'],
      ...[new Date(atMs), heldFor],
    ],
  )
  await world.pool.query(
    `insert into redteam_attempts (run_id, project_id, number, request_id, probe_id, category, scorer, judged_by, transformation, repeat, origin, state, verdict)
     values ($1, $2, 0, $3, 'p', 'LLM01', 's', '{s}', 'plain', 0, '{"goal": "quoted"}', $4, $5)`,
    [
      ...[idToUuid(run), idToUuid(projectId), idToUuid(call.id)],
      ...(heldFor === null ? ['judged', 'fail'] : ['recorded', null]),
    ],
  )
  return { run, call }
}

const runsOf = async (projectId: string) =>
  (
    await world.pool.query<{
      status: string
      origin: object | null
      verdict: string | null
      reason: string | null
    }>(
      `select r.status, a.origin, a.verdict, a.reason from redteam_runs r join redteam_attempts a on a.run_id = r.id
       where r.project_id = $1 order by r.created_at`,
      [idToUuid(projectId)],
    )
  ).rows

test('red-team runs of an erased project are cancelled, and gone once their process has let go', async () => {
  const [projectId, otherId] = [await world.fixture.addProject(), await world.fixture.addProject()]
  await addRun(projectId, { atMs: Date.now() - 1_000 })
  const { call } = await addRun(projectId, { heldFor: '1 hour' })
  await addRun(otherId, { heldFor: '1 hour' })
  await world.fixture.store([call])
  const erasure = await world.fixture.erase(projectId, 'project', '')
  await addRun(projectId, { atMs: Date.now() + 60_000 })
  await world.fixture.makeRounds(5)
  expect(await world.fixture.statusOf(erasure)).toEqual({ status: 'erasing', erased_calls: '1' })
  expect((await runsOf(projectId)).map(({ status }) => status)).toEqual(['done', 'cancelled', 'done'])
  await world.pool.query(`update redteam_runs set lease_until = null where status = 'cancelled'`)
  await world.fixture.erased(erasure, '1')
  // What was ordered afterwards is another matter.
  expect((await runsOf(projectId)).map(({ status }) => status)).toEqual(['done'])
  expect((await runsOf(otherId)).map(({ status }) => status)).toEqual(['running'])
})

test('of an erased call’s attempt what it came to stays, nothing that it quotes; one without a verdict waits for none', async () => {
  const projectId = await world.fixture.addProject()
  const runs = [
    await addRun(projectId, { atMs: Date.now() - 2_000 }),
    await addRun(projectId, { atMs: Date.now() - 1_000, heldFor: '1 hour' }),
    await addRun(projectId),
  ]
  await world.fixture.store(runs.map(({ call }) => call))
  for (const { call } of runs.slice(0, 2))
    await world.fixture.erased(await world.fixture.erase(projectId, 'request', idToUuid(call.id)), '1')
  expect(await runsOf(projectId)).toEqual([
    { status: 'done', origin: null, verdict: 'fail', reason: null },
    { status: 'running', origin: null, verdict: null, reason: 'erased' },
    { status: 'done', origin: { goal: 'quoted' }, verdict: 'fail', reason: null },
  ])
})
