import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { TransientError } from '#runtime/errors.ts'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { topics } from '#schemas/topics.ts'
import { eventually } from '#tests/support/until.ts'
import { createElection, upkeepLocks } from './election.ts'
import { createClaimReturn } from './return-claims.ts'
import { findLostClaims, returnClaims } from '../stores/claim-store.ts'
import { sampleCall } from '../testing/sample-records.ts'
import { setSinkFixture, startSink, type SinkFixture } from '../testing/sink-fixture.ts'

jest.setTimeout(300_000)

const log = createLog('test', 'silent')
let fixture: SinkFixture

beforeAll(async () => {
  fixture = await setSinkFixture()
})

afterAll(() => fixture.close())

/**
 * A round of the upkeep; what passes by itself (a topic just made has no leader yet) is tried again, as its
 * task does.
 */
const keeper = (clock: Clock = systemClock) => {
  const keep = createClaimReturn({
    pool: fixture.pool,
    ...createElection(fixture.pool, upkeepLocks.quotaClaims),
    kafka: fixture.kafka,
    topic: fixture.prefix + topics.requestLogged.name,
    groupId: `${fixture.prefix}sink-calls`,
    clock,
    log,
    metrics: createMetrics(),
  })
  const untilDone = async (): Promise<unknown> =>
    keep().catch(async (error: unknown) => {
      if (!(error instanceof TransientError)) throw error
      await sleep(200)
      return untilDone()
    })
  return untilDone
}

const at = (iso: string): Clock => ({ ...systemClock, now: () => Date.parse(iso) })

async function claim(projectId: string, ids: readonly string[]): Promise<void> {
  await fixture.pool.query('select claim_requests($1, $2::uuid[], now(), true)', [
    idToUuid(projectId),
    ids.map(idToUuid),
  ])
}

/** As if they had been claimed so long ago. */
async function age(projectId: string, hours: number): Promise<void> {
  await fixture.pool.query(
    `update quota_claims set claimed_at = claimed_at - make_interval(hours => $2) where project_id = $1`,
    [idToUuid(projectId), hours],
  )
}

async function countOf(projectId: string): Promise<number> {
  const { rows } = await fixture.pool.query<{ count: number }>(
    'select requests_this_period::integer as count from subscriptions where project_id = $1',
    [idToUuid(projectId)],
  )
  return rows[0]?.count ?? -1
}

const storedCount = async (projectId: string) =>
  (await fixture.pool.query('select from llm_requests where project_id = $1', [idToUuid(projectId)]))
    .rowCount ?? 0

const untilStored = (projectId: string, count: number) =>
  eventually(
    () => storedCount(projectId),
    (stored) => stored === count,
  )

/** How many records of calls the sinks have stored or recognised. */
async function passed(): Promise<number> {
  const { rows } = await fixture.pool.query<{ passed: number }>(
    'select coalesce(sum(next_offset), 0)::integer as passed from sink_positions',
  )
  return rows[0]?.passed ?? 0
}

test('a claim whose call never came is given back, an hour later and once the sinks are past it; no other is', async () => {
  const projectId = await fixture.addProject('free')
  const [stored, waiting, lost, retried] = [1, 2, 3, 4].map(() => sampleCall(projectId, { tier: 'free' }))
  const all = [stored, waiting, lost, retried].map((call) => call?.id ?? '')
  await claim(projectId, all)
  await age(projectId, 2)
  const young = newId('request')
  await claim(projectId, [young, retried?.id ?? ''])
  expect(await countOf(projectId)).toBe(5)

  // Claims are taken by the database's clock: a sink that is hours ahead gives back no young one.
  const keep = keeper({ ...systemClock, now: () => Date.now() + 2 * 3_600_000 })
  if (stored === undefined || waiting === undefined) throw new Error('no calls')
  await fixture.sendCalls([stored, waiting])
  // The sinks have not passed what was sent: whether it will be stored, nobody knows.
  for (let round = 0; round < 3; round++) expect(await keep()).toBe(false)
  expect(await countOf(projectId)).toBe(5)

  const sink = await startSink(fixture)
  try {
    await untilStored(projectId, 2)
    await eventually(
      async () => {
        await keep()
        return countOf(projectId)
      },
      (count) => count === 4,
    )
    // What is erased was stored: it has been paid for.
    await fixture.pool.query('delete from llm_requests where project_id = $1', [idToUuid(projectId)])
    for (let round = 0; round < 3; round++) await keep()
    expect(await countOf(projectId)).toBe(4)
  } finally {
    await sink.service.stop()
  }
  // Given back, it is claimed again when its client comes after all.
  await claim(projectId, [lost?.id ?? ''])
  expect(await countOf(projectId)).toBe(5)
})

test('a call that was claimed under a limit counts once when it comes after its project became unlimited', async () => {
  const projectId = await fixture.addProject('free')
  const [claimed, later] = [1, 2].map(() => sampleCall(projectId, { tier: 'enterprise' }))
  if (claimed === undefined || later === undefined) throw new Error('no calls')
  // Admitted, and then Kafka was away: its client sends it again, to a project that has paid meanwhile.
  await claim(projectId, [claimed.id])
  await fixture.pool.query(`update subscriptions set tier = 'enterprise' where project_id = $1`, [
    idToUuid(projectId),
  ])
  const before = await passed()
  const sink = await startSink(fixture)
  try {
    // Once more in the same batch, and once more behind it.
    await fixture.sendCalls([claimed, later, later])
    await eventually(passed, (count) => count === before + 3)
    await fixture.sendCalls([later])
    await eventually(passed, (count) => count === before + 4)
  } finally {
    await sink.service.stop()
  }
  expect(await storedCount(projectId)).toBe(2)
  expect(await countOf(projectId)).toBe(2)
})

test('a claim of an erased call is not lost, one used again meanwhile stays, one of the period before is given back to that', async () => {
  const projectId = await fixture.addProject('free')
  const [again, before, erased] = [newId('request'), newId('request'), newId('request')]
  await claim(projectId, [again, before, erased])
  await fixture.pool.query(
    `with erasure as (
       insert into erasures (id, project_id, scope, subject, requested_at, requested_by, kept_in_kafka_until)
       values (gen_random_uuid(), $1, 'project', '', now(), 'operator', now()) returning id
     ) insert into erased_requests select $1, $2, $3, id from erasure`,
    [idToUuid(projectId), erased, idToUuid(erased)],
  )
  await fixture.pool.query(
    `update quota_claims set period_start = period_start - interval '1 month', claimed_at = now() - interval '2 hours' where request_id = $1`,
    [idToUuid(before)],
  )
  const [from, hourAgo] = [new Date(Date.now() - 7_300_000), new Date(Date.now() - 3_600_000)]
  const all = await findLostClaims(fixture.pool, from, new Date(Date.now() + 60_000), 5_000)
  const lost = all.filter(({ projectUuid }) => projectUuid === idToUuid(projectId))
  expect(lost.flatMap(({ requestUuids }) => requestUuids).sort()).toEqual(
    [again, before].map(idToUuid).sort(),
  )
  for (const claims of lost) expect(await returnClaims(fixture.pool, claims, hourAgo)).toBe(1)
  expect(await countOf(projectId)).toBe(3)
})

test('the claims of an outage are given back, however many there are', async () => {
  const projectId = await fixture.addProject('free')
  const count = 5_001
  await fixture.pool.query('delete from quota_sweeps')
  await fixture.pool.query(
    `insert into quota_claims (project_id, period_start, request_id, claimed_at)
     select project_id, period_start, gen_random_uuid(), now() - interval '90 minutes'
     from subscriptions, generate_series(1, $2) where project_id = $1`,
    [idToUuid(projectId), count],
  )
  await fixture.pool.query('update subscriptions set requests_this_period = $2 where project_id = $1', [
    idToUuid(projectId),
    count,
  ])
  const keep = keeper()
  // Since when there are any is known from the first round on, and looked for no more: that reads all there
  // are.
  await keep()
  expect((await fixture.pool.query('select from quota_sweeps')).rowCount).toBe(1)
  await eventually(
    async () => {
      await keep()
      return countOf(projectId)
    },
    (left) => left === 0,
  )
})

test('claims stand in a table for each month, which is dropped when nobody can ask for it', async () => {
  const projectId = await fixture.addProject('free')
  const names = async () => {
    const { rows } = await fixture.pool.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'quota_claims'::regclass order by 1`,
    )
    return rows.map(({ name }) => name)
  }
  await fixture.pool.query(
    `insert into quota_claims (project_id, period_start, request_id) values ($1, '2021-01-20Z', gen_random_uuid())`,
    [idToUuid(projectId)],
  )
  await keeper(at('2021-01-25T00:00:00Z'))()
  expect(await names()).toEqual(expect.arrayContaining(['quota_claims_202101', 'quota_claims_202102']))
  const rows = async () => (await fixture.pool.query('select from quota_claims_202101')).rowCount
  // A round drops one at most, and that of December goes first.
  for (let round = 0; round < 2; round++) await keeper(at('2021-04-01T00:00:00Z'))()
  expect(await names()).not.toContain('quota_claims_202012')
  expect(await rows()).toBe(1)
  // The period before the one that began on 6 March began on 6 February at the earliest.
  while ((await names()).includes('quota_claims_202101')) await keeper(at('2021-04-05T23:00:00Z'))()
  expect(await names()).toEqual(expect.arrayContaining(['quota_claims_202102', 'quota_claims_202105']))
  // That goes by Postgres's clock too: of a sink whose own is years ahead the claims of this month stay.
  for (let round = 0; round < 9; round++) await keeper(at('2046-01-01T00:00:00Z'))()
  expect(await names()).toContain(`quota_claims_${new Date().toISOString().slice(0, 7).replace('-', '')}`)
})
