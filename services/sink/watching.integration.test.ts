import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
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
import { createMaintenance } from './maintain-tables.ts'
import { createDayPartitions } from './stores/day-partitions.ts'
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
  await createClusterWatch(watch)()
  expect(await valueOf(metrics, 'sluice_cluster_missing_topics')).toBe(1)
  const refusing = 'sluice_cluster_under_min_isr_partitions'
  expect(await valueOf(metrics, refusing, { topic: well })).toBe(0)
  expect(await valueOf(metrics, refusing, { topic: strict })).toBe(3)
  expect(await valueOf(metrics, 'sluice_cluster_offline_partitions', { topic: strict })).toBe(0)
  for (const dependency of ['kafka', 'registry', 'postgres'])
    expect([dependency, await valueOf(metrics, 'sluice_dependency_up', { dependency })]).toEqual([
      dependency,
      1,
    ])

  const away = {
    kafka: new kafkajs.Kafka({
      brokers: ['127.0.0.1:1'],
      retry: { retries: 0 },
      logLevel: kafkajs.logLevel.NOTHING,
    }),
    registryUrl: 'http://127.0.0.1:1',
  }
  await createClusterWatch({ ...watch, ...away })()
  expect(await valueOf(metrics, 'sluice_dependency_up', { dependency: 'kafka' })).toBe(0)
  expect(await valueOf(metrics, 'sluice_dependency_up', { dependency: 'registry' })).toBe(0)
  expect(await valueOf(metrics, 'sluice_dependency_up', { dependency: 'postgres' })).toBe(1)
})

test('tells until when there are partitions, and how old the oldest erasure is', async () => {
  const before = Date.now()
  const metrics = createMetrics()
  const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
  const maintain = createMaintenance({ pool, partitions, daysAhead: 4, clock: systemClock, metrics })
  await maintain()
  // Later when the day changes meanwhile, or when the database was made with more days.
  const end = (await valueOf(metrics, 'sluice_partitions_end_timestamp_seconds')) ?? 0
  expect(end).toBeGreaterThanOrEqual((Math.floor(before / dayMs) + 5) * (dayMs / 1_000))
  expect(await valueOf(metrics, 'sluice_erasures_open')).toBe(0)

  const { rows } = await pool.query<{ name: string }>(
    `select max(inhrelid::regclass::text) as name from pg_inherits where inhparent = 'safety_score_details'::regclass`,
  )
  await pool.query(`drop table ${rows[0]?.name ?? ''}`)
  await pool.query(
    `insert into erasures (id, project_id, scope, subject, requested_at, requested_by, kept_in_kafka_until)
     values (gen_random_uuid(), gen_random_uuid(), 'user', 'u', now() - interval '2 hours', 'operator', now())`,
  )
  await maintain()
  expect(await valueOf(metrics, 'sluice_partitions_end_timestamp_seconds')).toBe(end - dayMs / 1_000)
  expect(await valueOf(metrics, 'sluice_erasures_open')).toBe(1)
  expect(await valueOf(metrics, 'sluice_erasures_oldest_age_seconds')).toBeGreaterThanOrEqual(7_200)
})
