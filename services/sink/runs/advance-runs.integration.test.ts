import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { Admin } from 'kafkajs'
import { systemClock } from '#runtime/clock.ts'
import { TransientError } from '#runtime/errors.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { idToUuid, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { topics } from '#schemas/topics.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'
import { eventually, until } from '#tests/support/until.ts'
import { createRunAdvance, type RunDependencies } from './advance-runs.ts'
import { replayQueuesOf } from '../service-context.ts'
import { countBacklog, passQueues, type Queue } from '../upkeep/follow-queues.ts'
import { createHistoryReader } from './read-history.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import type { ScoreRun } from '../stores/run-store.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { eventuallyCounted, setSinkFixture, startSink, type SinkFixture } from '../testing/sink-fixture.ts'

jest.setTimeout(300_000)

let fixture: SinkFixture
let queues: [jobs: Queue, scores: Queue]
const log = createLog('test', 'silent')

beforeAll(async () => {
  fixture = await setSinkFixture()
  queues = replayQueuesOf({ TOPIC_PREFIX: fixture.prefix })
})
afterAll(() => fixture.close())

/**
 * What a sink does for runs, whose clock stands still in 1970. What passes by itself (the broker does not
 * lead a topic just made yet) is tried again, as its task does.
 */
function carrier(changes: Partial<RunDependencies> = {}) {
  const carryOut = createRunAdvance({
    pool: fixture.pool,
    rollups: createRollupStore(),
    publishJobs: () => Promise.resolve(),
    waitingJobs: () => Promise.resolve(0),
    findAwaited: (awaited) => passQueues(fixture.kafka, queues, awaited),
    maxWaitingJobs: 5_000,
    readHistory: createHistoryReader({
      kafka: fixture.kafka,
      topic: fixture.prefix + topics.requestLogged.name,
      codec: fixture.codecOf(topics.requestLogged),
      groupPrefix: `${fixture.prefix}sink-replay-`,
      log,
    }),
    clock: { ...systemClock, now: () => 0 },
    log,
    metrics: createMetrics(),
    ...changes,
  })
  const look = async (): Promise<unknown> =>
    carryOut().catch(async (error: unknown) => {
      if (!(error instanceof TransientError)) throw error
      await sleep(200)
      return look()
    })
  return { look }
}

async function orderRun(
  projectId: string,
  run: { status: string; source?: string; fed?: number },
): Promise<string> {
  const id = newId('run')
  const { source = 'postgres', status, fed = 0 } = run
  await fixture.pool.query(runSql, [idToUuid(id), idToUuid(projectId), source, status, fed])
  return id
}

const runSql = `
  insert into score_runs (id, project_id, start_at, end_at, source, alert, status, calls_total, calls_fed, created_at)
  values ($1, $2, now() - interval '1 hour', now() + interval '1 hour', $3, false, $4, 0, $5, now())`

async function readRun(id: string) {
  const select = 'select status, calls_fed, calls_scored, problem, awaited from score_runs where id = $1'
  type Row = Omit<ScoreRun, 'status'> & { status: string }
  const { rows } = await fixture.pool.query<Row>(select, [idToUuid(id)])
  const { calls_fed = '', calls_scored = '', status, problem, awaited } = rows[0] ?? {}
  return { status, fed: Number(calls_fed), scored: Number(calls_scored), problem, awaits: awaited?.topic }
}

/**
 * 20 records, to every partition, as the keys are the same each time: with 20 random ones one of six was left
 * out in 1 of 38 runs, and nothing was waited for there.
 */
const write = ({ topic }: Queue) =>
  fixture.send(many(20, (index) => ({ topic, key: `job ${index}`, value: Buffer.from('x') })))

const endsOf = async ({ topic }: Queue) => {
  const offsets = await withAdmin(fixture.kafka, (admin) => admin.fetchTopicOffsets(topic))
  expect(offsets.filter(({ high }) => high === '0')).toEqual([])
  return offsets.map(({ partition, high }) => ({ partition, offset: high }))
}

/** What a group has handled and what Kafka has no longer are one to the sink, and this needs no member. */
const pass = ({ topic }: Queue, ends: readonly { partition: number; offset: string }[]) =>
  withAdmin(fixture.kafka, async (admin) => {
    // kafkajs finds a partition's leader only among topics that it has been asked about.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [...ends] })
  })

/** Until the broker leads every partition. */
const untilLed = (admin: Admin, topic: string, count: number) =>
  until(() =>
    admin.fetchTopicOffsets(topic).then(
      ({ length }) => length === count,
      () => false,
    ),
  )

async function makeAnew(topic: string, numPartitions: number): Promise<void> {
  await withAdmin(fixture.kafka, async (admin) => {
    await admin.deleteTopics({ topics: [topic] })
    // The old one is listed for a while.
    const create = () => admin.createTopics({ topics: [{ topic, numPartitions }], waitForLeaders: false })
    await until(() => create().catch(() => false))
    await untilLed(admin, topic, numPartitions)
  })
}

test('a run that lacks scores is done once what stood in the queues is through, whatever flows on behind it', async () => {
  const [jobs, scores] = queues
  await write(jobs)
  const runId = await orderRun(await fixture.addProject(), { status: 'scoring', fed: 3 })
  // By turns, as several sinks or one that starts over: each has nothing but the row.
  const look = async () => {
    await carrier().look()
    return readRun(runId)
  }
  const jobEnds = await endsOf(jobs)
  expect(await look()).toMatchObject({ status: 'scoring', awaits: jobs.topic })
  await write(jobs)
  // One of its jobs is tried again and again: its partition's offset stands before it.
  await pass(jobs, jobEnds.slice(1))
  expect(await look()).toMatchObject({ status: 'scoring', awaits: jobs.topic })

  await pass(jobs, jobEnds)
  await write(scores)
  const scoreEnds = await endsOf(scores)
  expect(await look()).toMatchObject({ status: 'scoring', awaits: scores.topic })
  await write(scores)
  await pass(scores, scoreEnds.slice(0, -1))
  expect(await look()).toMatchObject({ status: 'scoring', awaits: scores.topic })
  await pass(scores, scoreEnds)
  expect(await look()).toMatchObject({
    status: 'done',
    scored: 0,
    problem: expect.stringMatching(/^3 jobs brought no score/),
  })
  for (const { topic, groupId } of queues)
    expect(await countBacklog(fixture.kafka, topic, groupId)).toBeGreaterThanOrEqual(20)
})

test('a score that is stored while a sink asks for the queues is counted', async () => {
  const projectId = await fixture.addProject()
  const calls = many(2, () => sampleCall(projectId))
  const storage = createCallStorage(fixture.pool)
  await storage.calls(calls)
  const runId = await orderRun(projectId, { status: 'scoring', fed: 2 })
  const scoredOf = (call: LoggedCall) => {
    const id = scoreId(projectId, call.id, 'pii_detection', runId)
    const score = sampleScore(projectId, call.id, { id })
    return sampleScoredCall(call, { run_id: runId, scores: [score], raise_events: false })
  }
  const findAwaited = async () => {
    await storage.scores(calls.map(scoredOf))
    return undefined
  }
  await carrier({ findAwaited }).look()
  expect(await readRun(runId)).toMatchObject({ status: 'done', scored: 2, problem: null })
})

test('a run waits neither for jobs that went with their topic nor for partitions that were added later', async () => {
  const [jobs, scores] = queues
  await write(jobs)
  const runId = await orderRun(await fixture.addProject(), { status: 'scoring', fed: 3 })
  await carrier().look()
  await makeAnew(jobs.topic, 1)
  await write(scores)
  const ends = await endsOf(scores)
  await carrier().look()
  expect(await readRun(runId)).toMatchObject({ status: 'scoring', awaits: scores.topic })
  await withAdmin(fixture.kafka, async (admin) => {
    const count = ends.length + 2
    await admin.createPartitions({ topicPartitions: [{ topic: scores.topic, count }] })
    await untilLed(admin, scores.topic, count)
  })
  await pass(scores, ends)
  await carrier().look()
  expect(await readRun(runId)).toMatchObject({ status: 'done', scored: 0 })
})

test('a run over a topic that is recreated ends, says what is lost, and holds up no other', async () => {
  const projectId = await fixture.addProject()
  const calls = many(60, () => sampleCall(projectId))
  await createCallStorage(fixture.pool).calls(calls)
  await fixture.sendCalls(calls)
  const runId = await orderRun(projectId, { status: 'queued', source: 'kafka' })
  const sink = carrier()
  await sink.look()
  const { fed } = await readRun(runId)
  expect(fed).toBeGreaterThan(0)
  expect(fed).toBeLessThan(60)

  await makeAnew(fixture.prefix + topics.requestLogged.name, 6)
  const nextId = await orderRun(projectId, { status: 'queued' })
  await until(async () => {
    await sink.look()
    return (await readRun(runId)).status !== 'feeding' && (await readRun(nextId)).fed === 60
  })
  const { problem, ...run } = await readRun(runId)
  expect(run).toMatchObject({ fed, status: expect.stringMatching(/scoring|done/) })
  expect(problem).toMatch(new RegExp(`^the topic has lost ${60 - fed} records(;|$)`))
})

test('by a sink, too, through which live scores flow without end; all of them are stored once', async () => {
  const own = await setSinkFixture()
  const sink = await startSink(own)
  const projectId = await own.addProject()
  const uuid = idToUuid(projectId)
  const calls = many(20, () => sampleCall(projectId))
  const storage = createCallStorage(own.pool)
  await storage.calls(calls)
  const runId = newId('run')
  const scoredBy = (index: number): ScoredCall => {
    const call = calls[index % calls.length] as LoggedCall
    const score = sampleScore(projectId, call.id, {
      scorer_name: `scorer_${index}`,
      score_label: 'safe',
      severity: null,
    })
    return sampleScoredCall(call, { scores: [score], raise_events: false })
  }
  let sent = 0
  const over = new AbortController()
  const flow = async () => {
    for (; !over.signal.aborted; sent += 20) {
      await own.sendScores(many(20, (index) => scoredBy(sent + index)))
      // A sink keeps up with it, and has something to store at every moment.
      await sleep(50)
    }
  }
  const flowing = flow()
  try {
    await eventually(
      () => sent,
      (count) => count >= 200,
    )
    await own.pool.query(runSql, [idToUuid(runId), uuid, 'postgres', 'scoring', 1])
    await eventually(
      async () => (await own.pool.query<{ status: string }>('select status from score_runs')).rows[0]?.status,
      (status) => status === 'done',
    )
    over.abort()
    await flowing
    const stored = 'select count(*)::int as count from safety_scores where project_id = $1'
    await eventuallyCounted(
      async () => (await own.pool.query<{ count: number }>(stored, [uuid])).rows[0]?.count ?? 0,
      sent,
    )
  } finally {
    over.abort()
    await flowing
    await sink.service.stop()
    await own.close()
  }
})
