import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { TransientError } from '#runtime/errors.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { contextOf } from '#schemas/call-context.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { createElection, upkeepLocks } from './election.ts'
import { createScoredUntil } from './follow-queues.ts'
import { scoringQueuesOf } from '../service-context.ts'
import { createSweep } from './sweep-unscored.ts'
import { placeCall } from '../steps/place-call.ts'
import { createCallStore } from '../stores/call-store.ts'
import { createDayPartitions, dayOf } from '../stores/day-partitions.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { many, sampleCall } from '../testing/sample-records.ts'
import { setSinkFixture, type SinkFixture } from '../testing/sink-fixture.ts'

jest.setTimeout(300_000)

const hourMs = 3_600_000
let fixture: SinkFixture

beforeAll(async () => {
  fixture = await setSinkFixture()
})

afterAll(() => fixture.close())

/** A call that was taken `hoursAgo`, stored as the sink stores it. */
async function store(projectId: string, hoursAgo: number) {
  const takenMs = Date.now() - hoursAgo * hourMs
  const call = sampleCall(projectId, {
    id: newId('request', takenMs),
    received_at: takenMs,
    metadata: '{"a": 1}',
  })
  const partitions = createDayPartitions({ pool: fixture.pool, clock: systemClock, maxAgeDays: 35 })
  await partitions.make(dayOf(takenMs))
  const record = { topic: 't', partition: 0, offset: 0n, key: null, value: call, headers: {}, timestampMs: 0 }
  const position = { cluster: 'c', topic: 't', partition: 0, nextOffset: 1n }
  await createCallStore(fixture.pool, createRollupStore()).store([placeCall(record)], position, 'kept')
  const rewind = 'update llm_requests set stored_at = received_at where project_id = $1 and id = $2'
  await fixture.pool.query(rewind, [idToUuid(projectId), idToUuid(call.id)])
  return call
}

const mine = (table: string, projectId: string, change: string) =>
  fixture.pool.query(`update ${table} set ${change} where project_id = $1`, [idToUuid(projectId)])

/**
 * A sink's sweep, and the jobs that it queued. What passes by itself (a topic just made has no leader yet) is
 * tried again, as its task does.
 */
function sweeper(refused?: string, ageMs = hourMs, clock = systemClock) {
  const jobs: ScoreJob[] = []
  const run = createSweep({
    pool: fixture.pool,
    ...createElection(fixture.pool, upkeepLocks.sweep),
    publishJobs: (published) => {
      if (published.some(({ request_id }) => request_id === refused))
        return Promise.reject(new TransientError('REFUSED', 'this hour fails'))
      return Promise.resolve(void jobs.push(...published))
    },
    ageMs,
    scoredUntil: createScoredUntil({ ...fixture, queues: queues(), ageMs }),
    clock,
    log: createLog('test', 'silent'),
    metrics: createMetrics(),
  })
  const sweep = async (): Promise<unknown> =>
    run().catch(async (error: unknown) => {
      if (!(error instanceof TransientError) || error.code === 'REFUSED') throw error
      await sleep(200)
      return sweep()
    })
  return { jobs, sweep }
}

const queues = () => scoringQueuesOf({ TOPIC_PREFIX: fixture.prefix })

test('calls over an hour old without scores are queued again with what was stored of them, at most once an hour and three times', async () => {
  const projectId = await fixture.addProject()
  const lost = await store(projectId, 2)
  const older = await store(projectId, 30)
  await store(projectId, 0.5)
  // Its client was late: what it waits for may be under way.
  const late = await store(projectId, 2)
  await fixture.pool.query('update llm_requests set stored_at = now() where id = $1', [idToUuid(late.id)])
  const erased = await store(projectId, 3)
  await fixture.pool.query('delete from llm_request_bodies where request_id = $1', [idToUuid(erased.id)])
  const scored = await store(projectId, 2)
  await fixture.pool.query(
    `insert into request_verdicts select project_id, id, created_at, 'safe', null, 1 from llm_requests where id = $1`,
    [idToUuid(scored.id)],
  )
  // Another project's call of the same id and time.
  await fixture.pool.query(
    `with theirs as (
       insert into llm_requests (project_id, id, created_at, source, model, zero_content_retention, received_at, stored_at)
       select $2, id, created_at, source, model, true, received_at, received_at from llm_requests where id = $1 returning *
     ) insert into request_verdicts select project_id, id, created_at, 'safe', null, 1 from theirs`,
    [idToUuid(lost.id), idToUuid(await fixture.addProject())],
  )

  // So many calls that hours are looked at in pieces.
  await mine('call_rollups', projectId, 'calls = 5000000')
  // By a sink whose clock is years ahead, as by any other.
  const { jobs, sweep } = sweeper(undefined, hourMs, { ...systemClock, now: () => Date.parse('2046-01-01Z') })
  await sweep()
  expect(jobs.map(({ request_id }) => request_id).toSorted()).toEqual(
    [lost.id, older.id, erased.id].toSorted(),
  )
  const { id, request_body, response_body } = lost
  const job = jobs.find(({ request_id }) => request_id === id)
  expect(job).toMatchObject({ ...contextOf(lost), request_body, response_body })
  expect(jobs.find(({ request_id }) => request_id === erased.id)).toMatchObject({
    request_body: null,
    response_body: null,
  })

  await sweep()
  expect(jobs).toHaveLength(3)
  // Nor where a call is looked for sooner.
  await mine('swept_calls', projectId, `swept_at = now() - interval '30 minutes'`)
  const hasty = sweeper(undefined, 60_000)
  await hasty.sweep()
  expect(hasty.jobs.map(({ request_id }) => request_id)).not.toContain(id)
  for (let hour = 0; hour < 4; hour++) {
    await mine('swept_calls', projectId, `swept_at = now() - interval '61 minutes'`)
    await sweep()
  }
  expect(jobs.filter(({ request_id }) => request_id === id)).toHaveLength(3)
})

test('a project with many calls that no scorer scores does not keep the lost calls of others waiting', async () => {
  const [samplingId, projectId] = [await fixture.addProject(), await fixture.addProject()]
  await store(samplingId, 4)
  await fixture.pool.query(
    `insert into llm_requests (project_id, id, created_at, source, model, zero_content_retention, received_at, stored_at)
     select project_id, gen_random_uuid(), created_at, source, model, true, received_at, received_at from llm_requests, generate_series(1, 1200)
     where project_id = $1`,
    [idToUuid(samplingId)],
  )
  const lost = await store(projectId, 2)
  const { jobs, sweep } = sweeper()
  await sweep()
  expect(jobs.map(({ request_id }) => request_id)).toContain(lost.id)
  expect(jobs.length).toBeLessThanOrEqual(1_000)
})

test('an hour that fails keeps no other waiting for long', async () => {
  const projectId = await fixture.addProject()
  const [failing, lost] = [await store(projectId, 2), await store(projectId, 5)]
  const { jobs, sweep } = sweeper(failing.id)
  let failures = 0
  // Each round begins an hour later.
  while (!jobs.some(({ request_id }) => request_id === lost.id) && failures < 24)
    await sweep().catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'REFUSED' })
      failures++
    })
  expect(failures).toBeLessThan(24)
})

test('calls are left alone while they may wait for their scorers, or their scores for a sink', async () => {
  const lost = await store(await fixture.addProject(), 2)
  const { jobs, sweep } = sweeper()
  const count = () => jobs.filter(({ request_id }) => request_id === lost.id).length
  const admin = fixture.kafka.admin()
  await admin.connect()
  try {
    // Less in each than in the one before: how far one has come says nothing of the next.
    for (const [place, { topic }] of queues().toReversed().entries())
      await fixture.send(many(place + 1, () => ({ topic, key: 'k', value: Buffer.from('waits') })))
    for (const { topic } of queues()) {
      for (let round = 0; round < 2; round++) await sweep()
      expect(count()).toBe(0)
      // As if its retention had ended: nobody waits for what is not there. (Committing for a group takes
      // kafkajs five seconds.)
      const ends = await admin.fetchTopicOffsets(topic)
      await admin.deleteTopicRecords({
        topic,
        partitions: ends.map(({ partition, high }) => ({ partition, offset: high })),
      })
    }
  } finally {
    await admin.disconnect()
  }
  await sweep()
  expect(count()).toBe(1)
})
