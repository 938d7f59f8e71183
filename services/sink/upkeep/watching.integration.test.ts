import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import kafkajs, { type Kafka } from 'kafkajs'
import pg from 'pg'
import { awaitTopics } from '#infra/create-topics.ts'
import { systemClock } from '#runtime/clock.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import {
  createTestDatabase,
  deleteTopics,
  randomName,
  testInfrastructure,
  type TestDatabase,
} from '#tests/support/infrastructure.ts'
import { eventually } from '#tests/support/until.ts'
import { createElection, upkeepLocks } from './election.ts'
import { createMaintenance } from './maintain-tables.ts'
import { createDayPartitions } from '../stores/day-partitions.ts'
import { createPeriodicTask, type RoundEnd } from './periodic-task.ts'
import { shareRounds } from './upkeep-job.ts'
import { createRoundStore } from '../stores/round-store.ts'
import { createClusterWatch } from './watch-cluster.ts'

jest.setTimeout(300_000)

const { brokers, registryUrl } = testInfrastructure()
const dayMs = 86_400_000
const log = createLog('test', 'silent')
const prefix = `${randomName('watch')}.`
const [well, strict, absent] = ['well', 'strict', 'absent'].map((name) => prefix + name) as [
  string,
  string,
  string,
]
let database: TestDatabase
let pool: pg.Pool
let kafka: Kafka

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 2 })
  kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'test', log })
})

afterAll(async () => {
  await pool.end()
  await database.drop()
  await deleteTopics(prefix)
})

async function valueOf(metrics: Metrics, name: string, labels: Readonly<Record<string, string>> = {}) {
  const { values = [] } = (await metrics.registry.getSingleMetric(name)?.get()) ?? {}
  return values.find((value) =>
    Object.entries(labels).every(([label, is]) => (value.labels as Record<string, unknown>)[label] === is),
  )?.value
}

test('tells topics that are missing or take no writes, and what does not answer', async () => {
  await withAdmin(kafka, async (admin) => {
    // One replica and two that have to be in sync: what a broker's loss makes of a topic.
    const configEntries = [{ name: 'min.insync.replicas', value: '2' }]
    const topics = [
      { topic: well, numPartitions: 2, replicationFactor: 1 },
      { topic: strict, numPartitions: 3, replicationFactor: 1, configEntries },
    ]
    await admin.createTopics({ topics, waitForLeaders: false })
    await awaitTopics(admin, [
      { name: well, partitions: 2 },
      { name: strict, partitions: 3 },
    ])
  })
  const metrics = createMetrics()
  // As where the registry asks for credentials, which fetch would refuse in a URL.
  const withCredentials = registryUrl.replace('://', '://user:secret@')
  const topicNames = [well, strict, absent]
  const watch = { kafka, pool, registryUrl: withCredentials, topicNames, log, metrics }
  const look = createClusterWatch(watch)
  const ups = () =>
    Promise.all(
      ['kafka', 'registry', 'postgres'].map((dependency) =>
        valueOf(metrics, 'sluice_dependency_up', { dependency }),
      ),
    )
  // What does not answer within seconds is down for that look: on a machine with much to do it happens.
  await eventually(
    () => look().then(ups),
    (values) => values.every((up) => up === 1),
  )
  expect(await valueOf(metrics, 'sluice_cluster_missing_topics')).toBe(1)
  const refusing = 'sluice_cluster_under_min_isr_partitions'
  expect(await valueOf(metrics, refusing, { topic: well })).toBe(0)
  expect(await valueOf(metrics, refusing, { topic: strict })).toBe(3)
  expect(await valueOf(metrics, 'sluice_cluster_offline_partitions', { topic: strict })).toBe(0)

  const away = {
    kafka: new kafkajs.Kafka({
      brokers: ['127.0.0.1:1'],
      retry: { retries: 0 },
      logLevel: kafkajs.logLevel.NOTHING,
    }),
    registryUrl: 'http://127.0.0.1:1',
  }
  await createClusterWatch({ ...watch, ...away })()
  expect(await ups()).toEqual([0, 0, 1])
})

test('tells until when there are partitions, and how old the oldest erasure is', async () => {
  const before = Date.now()
  const metrics = createMetrics()
  const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
  const maintain = createMaintenance({
    pool,
    ...createElection(pool, upkeepLocks.maintenance),
    partitions,
    daysAhead: 4,
    metrics,
  })
  await maintain()
  // Later when the day changes meanwhile, or when the database was made with more days.
  const end = (await valueOf(metrics, 'sluice_partitions_end_timestamp_seconds')) ?? 0
  expect(end).toBeGreaterThanOrEqual((Math.floor(before / dayMs) + 5) * (dayMs / 1_000))
  expect(await valueOf(metrics, 'sluice_erasures_open')).toBe(0)

  // Further ahead than it makes them: of those it would bring back what they lack.
  const tableDays = [0, 1].map((days) =>
    new Date(end * 1_000 + days * dayMs).toISOString().slice(0, 10).replaceAll('-', ''),
  )
  for (const day of tableDays) await pool.query('select ensure_day_partitions($1::date)', [day])
  await pool.query(`drop table safety_score_details_${tableDays[1]}`)
  await pool.query(
    `insert into erasures (id, project_id, scope, subject, requested_at, requested_by, kept_in_kafka_until)
     values (gen_random_uuid(), gen_random_uuid(), 'user', 'u', now() - interval '2 hours', 'operator', now())`,
  )
  await maintain()
  expect(await valueOf(metrics, 'sluice_partitions_end_timestamp_seconds')).toBe(end + dayMs / 1_000)
  expect(await valueOf(metrics, 'sluice_erasures_open')).toBe(1)
  expect(await valueOf(metrics, 'sluice_erasures_oldest_age_seconds')).toBeGreaterThanOrEqual(7_200)

  const tomorrow = new Date(Date.now() + dayMs).toISOString().slice(0, 10).replaceAll('-', '')
  await pool.query(`drop table request_verdicts_${tableDays[0]}, request_verdicts_${tomorrow}`)
  await maintain()
  expect(await valueOf(metrics, 'sluice_partitions_end_timestamp_seconds')).toBe(end)
})

describe('rounds that the sinks share', () => {
  const signal = new AbortController().signal
  const hourMs = 3_600_000

  /** Some sinks' rounds of a task, which end as they are told and write down who did which. */
  function sinksOf(name: string, ends: (RoundEnd | Error)[] = []) {
    const done: [sink: string, number: number][] = []
    const sink = (who: string) =>
      shareRounds(createRoundStore(pool, name, hourMs), (_signal, number) => {
        done.push([who, number])
        const end = ends.shift() ?? false
        return end instanceof Error ? Promise.reject(end) : Promise.resolve(end)
      })
    const pass = (ms: number) =>
      pool.query("update upkeep_rounds set due_at = due_at - $2 * interval '1 millisecond' where name = $1", [
        name,
        ms,
      ])
    return { done, pass, sink }
  }

  test('are done once, by who did the last one, and by another when it does not come', async () => {
    const { done, pass, sink } = sinksOf('once')
    const sinks = ['one', 'two', 'three'].map((who) => ({ who, run: sink(who) }))
    const began = await Promise.all(sinks.map(({ run }) => run(signal)))
    expect(done).toHaveLength(1)
    const [first] = done[0] as [string, number]
    const owner = sinks.find(({ who }) => who === first)?.run
    const others = sinks.filter(({ who }) => who !== first).map(({ run }) => run)
    // They are told when the last was done, by whomever, and when it is their turn.
    for (const run of others)
      expect(await run(signal)).toEqual({ dueInMs: expect.any(Number), endedAtMs: expect.any(Number) })
    expect(began.filter((end) => end === false)).toHaveLength(1)

    await pass(hourMs)
    for (const run of others) expect(await run(signal)).toMatchObject({ dueInMs: expect.any(Number) })
    expect(done).toHaveLength(1)
    expect(await owner?.(signal)).toBe(false)
    expect(done.at(-1)).toEqual([first, 2])

    await pass(1.5 * hourMs)
    expect(await others[0]?.(signal)).toBe(false)
    expect(done).toHaveLength(3)
    expect(await owner?.(signal)).toMatchObject({ dueInMs: expect.any(Number) })

    // As after Postgres's clock had been a year ahead.
    await pass(-365 * 24 * hourMs)
    expect(await others[1]?.(signal)).toBe(false)
  })

  test('go on at once where there is more to do, and after one that failed', async () => {
    const { done, sink } = sinksOf('again', [true, new Error('Postgres is away'), false])
    const [one, two] = [sink('one'), sink('two')]
    expect(await one(signal)).toBe(true)
    expect(await two(signal)).toMatchObject({ dueInMs: expect.any(Number), endedAtMs: expect.any(Number) })
    await expect(one(signal)).rejects.toThrow('Postgres is away')
    // Nobody else takes what is tried again.
    expect(await two(signal)).toMatchObject({ dueInMs: expect.any(Number) })
    expect(await one(signal)).toBe(false)
    expect(await one(signal)).toMatchObject({ dueInMs: expect.any(Number) })
    expect(done).toEqual([1, 2, 3].map((number) => ['one', number]))
  })

  test('of a sink on which they fail again and again are taken by another', async () => {
    const { done, pass, sink } = sinksOf('failing', Array<Error>(3).fill(new Error('only here')))
    const [one, two] = [sink('one'), sink('two')]
    await expect(one(signal)).rejects.toThrow('only here')
    await pass(1.4 * hourMs)
    await expect(one(signal)).rejects.toThrow('only here')
    await pass(0.2 * hourMs)
    await expect(one(signal)).rejects.toThrow('only here')
    expect(await two(signal)).toBe(false)
    expect(await one(signal)).toMatchObject({ dueInMs: expect.any(Number) })
    expect(done.at(-1)).toEqual(['two', 4])
  })

  test('of a sink that stops in one are due again for the others', async () => {
    const { done, pass, sink } = sinksOf('stopped')
    expect(await sink('one')(AbortSignal.abort())).toBe(false)
    await pass(0.5 * hourMs)
    expect(await sink('two')(signal)).toBe(false)
    expect(done).toHaveLength(2)
  })

  test('of a sink that was killed in one, or is stuck, are begun by another; what it ends late is known', async () => {
    const stuck = Promise.withResolvers<RoundEnd>()
    const begun = Promise.withResolvers<undefined>()
    const hanging = shareRounds(createRoundStore(pool, 'killed', hourMs), () => {
      begun.resolve(undefined)
      return stuck.promise
    })
    const ending = hanging(signal)
    await begun.promise
    const { done, pass, sink } = sinksOf('killed')
    const two = sink('two')
    expect(await two(signal)).toEqual({ dueInMs: expect.any(Number), endedAtMs: undefined })
    await pass(1.5 * hourMs)
    expect(await two(signal)).toBe(false)
    expect(done).toEqual([['two', 2]])
    stuck.resolve(true)
    expect(await ending).toBe(true)
    expect(await hanging(signal)).toMatchObject({ endedAtMs: expect.any(Number) })
  })

  test('show when any sink has last done one', async () => {
    const metrics = createMetrics()
    const endedAtMs = Date.now() + hourMs
    const task = createPeriodicTask({
      name: 'shared',
      intervalMs: hourMs,
      run: () => Promise.resolve({ dueInMs: hourMs, endedAtMs }),
      clock: systemClock,
      log,
      metrics,
    })
    await task.start()
    await task.stop()
    const last = await valueOf(metrics, 'sluice_sink_task_last_success_timestamp_seconds', { task: 'shared' })
    expect(last).toBe(endedAtMs / 1_000)
    const notDue = { task: 'shared', outcome: 'not_due' }
    expect(await valueOf(metrics, 'sluice_sink_task_runs_total', notDue)).toBe(1)
  })
})
