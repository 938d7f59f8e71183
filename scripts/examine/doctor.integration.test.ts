import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMPATIBILITY, SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import pg from 'pg'
import { createTopics, registerSchemas } from '#infra/create-topics.ts'
import { undoLast } from '#infra/migrate.ts'
import { setGroupOffsets } from '#runtime/kafka/set-group-offsets.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { longestRetentionMs, topics } from '#schemas/topics.ts'
import {
  createTestDatabase,
  deleteTopics,
  randomName,
  testInfrastructure,
  type TestDatabase,
} from '#tests/support/infrastructure.ts'
import { programEnvironment } from '#tests/support/program-environment.ts'
import { until } from '#tests/support/until.ts'
import { examineLag } from './examine-lag.ts'
import { examinePositions } from './examine-positions.ts'
import { examinePostgres } from './examine-postgres.ts'
import { examineSchemas } from './examine-schemas.ts'
import { examineServices } from './examine-services.ts'
import { examineSystem } from './examine-system.ts'
import { examineTopics } from './examine-topics.ts'
import { planRewind } from '../rewinding/plan-rewind.ts'
import { findSystem, type System } from './find-system.ts'
import type { Finding } from './finding.ts'
import { wrongIn } from './testing/wrong-in.ts'

jest.setTimeout(300_000)

const { brokers, registryUrl } = testInfrastructure()
const prefix = `${randomName('doctor')}.`
const log = createLog('test', 'silent')
const hourMs = 3_600_000
const calls = prefix + topics.requestLogged.name
let database: TestDatabase
let pool: pg.Pool
let directory: string
let service: Server
let environment: NodeJS.ProcessEnv
let system: System
/** The service's answer. */
let answer = { status: 'ok', problems: {} }

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 2 })
  for (let day = 0; day <= 7; day++)
    await pool.query(`select ensure_day_partitions((now() at time zone 'utc')::date + $1::integer)`, [day])
  directory = await mkdtemp(join(tmpdir(), 'sluice-doctor-'))
  await chmod(directory, 0o700)
  service = createServer((_request, response) =>
    response.writeHead(answer.status === 'failed' ? 503 : 200).end(JSON.stringify(answer)),
  )
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  environment = {
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl.replace('://', '://user:secret@'),
    DATABASE_URL: database.url,
    TOPIC_PREFIX: prefix,
    SPOOL_DIR: directory,
    SPOOL_MAX_BYTES: '1000',
    BODY_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  }
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  system = await findSystem({ state: undefined, operations: [`sink=${url}`] }, environment)
  await createTopics({ kafka: system.kafka, prefix, replicationFactor: 1, log })
  await registerSchemas({ registryUrl: system.config.SCHEMA_REGISTRY_URL, prefix, log })
})

afterAll(async () => {
  await new Promise((resolve) => service.close(resolve))
  await pool.end()
  await database.drop()
  await deleteTopics(prefix)
  await rm(directory, { recursive: true, force: true })
})

// Both only read, and the second mostly waits: run concurrently.
test.concurrent('a healthy system: every check runs, no problem, exit code 0', async () => {
  const run = await doctor(['--json', '--service', `sink=${system.operations['sink'] ?? ''}`], environment)
  const report = JSON.parse(run.output) as { ok: boolean; problems: number; findings: Finding[] }
  expect(wrongIn(report.findings)).toEqual([])
  expect(run.code).toBe(0)
  expect(report).toMatchObject({ ok: true, problems: 0 })
  const made = report.findings.filter(({ state }) => state === 'ok').map(({ check }) => check)
  const checks =
    'kafka topics schemas clock sessions migrations partitions roles positions outbox services spool secrets'
  expect(made).toEqual(expect.arrayContaining([...checks.split(' '), 'webhook keys', 'dead letters']))
})

test.concurrent('Kafka down: reports it, checks everything else, and exits with 1', async () => {
  const run = await doctor([], { ...environment, KAFKA_BROKERS: '127.0.0.1:1' })
  expect(run.code).toBe(1)
  expect(run.output).toMatch(/PROBLEM {2}kafka +Kafka at \S+:1 cannot be examined: .*\n +do: is it up/)
  expect(run.output).toMatch(/OK +migrations +all are applied/)
  expect((await doctor(['--service', 'nonsense'], environment)).code).toBe(2)
})

test('topics: one is missing, one has too short a retention', async () => {
  const late = prefix + topics.eventRaised.name
  const gone = prefix + topics.deliveryDead.name
  await withAdmin(system.kafka, async (admin) => {
    const type = kafkajs.ConfigResourceTypes.TOPIC
    const configEntries = [
      { name: 'retention.ms', value: '60000' },
      { name: 'max.message.bytes', value: String(topics.eventRaised.maxMessageBytes) },
      { name: 'message.timestamp.type', value: 'LogAppendTime' },
    ]
    await admin.alterConfigs({ validateOnly: false, resources: [{ type, name: late, configEntries }] })
    await admin.deleteTopics({ topics: [gone] })
  })
  const becomes = (expected: readonly string[]) =>
    until(
      async () => (await wrong()).join() === expected.join(),
      30_000,
      async () => (await wrong()).join('; '),
    )
  const wrong = async () => wrongIn(await examineTopics(system))
  await becomes([
    `topics: ${late}: retention.ms is 60000, not ${topics.eventRaised.retentionMs} to ${longestRetentionMs}`,
    `topics: ${gone} is missing`,
  ])
  // Its remedy works.
  await createTopics({ kafka: system.kafka, prefix, replicationFactor: 1, log })
  await becomes([])
})

test('schemas: one is not registered, one is incompatible', async () => {
  const other = await findSystem(
    { state: undefined, operations: [] },
    { ...environment, TOPIC_PREFIX: `${prefix}b.` },
  )
  await registerSchemas({ registryUrl, prefix: `${prefix}b.`, log })
  const missing = `${prefix}b.${topics.eventRaised.name}-value`
  const foreign = `${prefix}b.${topics.deliveryDue.name}-value`
  for (const subject of [missing, foreign])
    await fetch(`${registryUrl}/subjects/${subject}`, { method: 'DELETE' })
  const schema = { type: 'record', name: 'Other', fields: [{ name: 'theirs', type: 'long' }] }
  await new SchemaRegistry({ host: registryUrl }).register(schema as never, {
    subject: foreign,
    compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE,
  })
  const wrong = wrongIn(await examineSchemas(other))
  expect(wrong).toContain(`schemas: ${missing} is not registered`)
  expect(wrong).toContain(
    `schemas: ${foreign}: what is registered and the schema of this version are incompatible`,
  )
  expect(wrong.filter((what) => !what.includes(missing) && !what.includes(foreign))).toEqual([])
})

test('lag: records have waited for hours, and no member reads them', async () => {
  const topic = prefix + topics.scoreJobs.name
  const groupId = `${prefix}scorer`
  const producer = system.kafka.producer()
  await producer.connect()
  const messages = [1, 2, 3].map(() => ({ value: 'x', partition: 0 }))
  await producer.sendBatch({ topicMessages: [topic, calls].map((one) => ({ topic: one, messages })) })
  await producer.disconnect()
  await Promise.all([
    setGroupOffsets(system.kafka, groupId, [{ topic, partition: 0, offset: 1n }]),
    setGroupOffsets(system.kafka, `${prefix}sink-calls`, [{ topic: calls, partition: 0, offset: 3n }]),
  ])
  const later = { ...system, now: () => Date.now() + 2 * hourMs }
  expect(wrongIn(await examineLag(later))).toEqual([
    'lag: scorer has no members: nobody does its work',
    `lag: scorer: 2 records of ${topics.scoreJobs.name} wait, over an hour`,
    'lag: sink-calls has no members: nobody does its work',
  ])
})

test('positions: the tables lack what the sinks committed, as after a fail-over to a lagging standby', async () => {
  const { clusterId } = await withAdmin(system.kafka, (admin) => admin.describeCluster())
  await pool.query('insert into sink_positions values ($1, $2, 0, 1)', [clusterId, calls])
  const what = `records that the sinks committed and the tables do not know: 2 of ${topics.requestLogged.name} partition 0`
  expect(await examinePositions(system)).toMatchObject([{ check: 'positions', state: 'warning', what }])
  const database = await pool.connect()
  try {
    const begin = async (callsSinceMs?: number) => {
      const plans = await planRewind(system.kafka, database, { prefix, sinceMs: Date.now(), callsSinceMs })
      return plans[0]?.offsets.find((next) => next.topic === calls && next.partition === 0)?.offset
    }
    expect(await begin()).toBe(1n)
    // The sinks have continued, and the position with them: the loss is found by its time.
    await database.query('update sink_positions set next_offset = 3')
    expect(await begin()).toBe(3n)
    expect(await begin(Date.now() - hourMs)).toBe(0n)
  } finally {
    database.release()
  }
  expect(await examinePositions(system)).toMatchObject([{ check: 'positions', state: 'ok' }])
})

test('Postgres: a day without partitions, and a webhook whose key is gone', async () => {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'safety_score_details'::regclass
       and inhrelid::regclass::text >= 'safety_score_details_' || to_char(now() at time zone 'utc', 'YYYYMMDD')`,
    )
    await client.query(`drop table ${rows.map(({ name }) => name).join(', ')}`)
    const tomorrow = new Date(Date.now() + 24 * hourMs).toISOString().slice(0, 10).replaceAll('-', '')
    await client.query(`drop table request_verdicts_${tomorrow}`)
    await client.query(
      `with project as (insert into projects (id, name, created_at) values (gen_random_uuid(), 'p', now()) returning id)
       insert into webhooks (id, project_id, url, events, secret_codec, secret_key_id, secret_data, created_at, updated_at)
       select gen_random_uuid(), id, 'https://a.example', '{}', 'raw', 'k0', '', now(), now() from project`,
    )
  } finally {
    client.release()
  }
  expect(wrongIn(await examinePostgres(system))).toEqual([
    'partitions: request_verdicts has partitions for 0 days ahead',
    'partitions: safety_score_details has no partition for today',
    'webhook keys: 1 webhooks have secrets sealed with key k0, which is not in BODY_ENCRYPTION_KEYS',
  ])
})

test('a clock that is an hour wrong', async () => {
  const slow = { ...system, now: () => Date.now() - hourMs }
  const wrong = wrongIn([...(await examinePostgres(slow)), ...(await examineServices(slow))])
  expect(wrong.filter((what) => what.startsWith('clock'))).toEqual([
    expect.stringMatching(/^clock: Postgres is 3\d{3}\.\d s ahead of this host$/),
    expect.stringMatching(/^clock: the host of sink is 3\d{3}\.\d s ahead of this host$/),
  ])
})

test('a failed service, a degraded one, a missing one', async () => {
  answer = { status: 'failed', problems: { postgres: 'POSTGRES_UNAVAILABLE: gone' } }
  expect(wrongIn(await examineServices(system))).toEqual([
    'services: sink says failed; postgres: POSTGRES_UNAVAILABLE: gone',
  ])
  answer = { status: 'degraded', problems: { prices: 'refused' } }
  expect(await examineServices(system)).toMatchObject([
    { state: 'warning', what: 'sink says degraded; prices: refused' },
  ])
  const nowhere = { ...system, operations: { scorer: 'http://127.0.0.1:1' } }
  expect(wrongIn(await examineServices(nowhere))[0]).toMatch(/^services: scorer does not answer at http/)
})

test('a migration that is not applied', async () => {
  const undone = await undoLast(database.url)
  const findings = await examineSystem({ ...system, operations: {} })
  expect(wrongIn(findings)).toContain(`migrations: not applied: ${String(undone)}`)
})

interface Run {
  code: number
  output: string
}

function doctor(args: string[], env: NodeJS.ProcessEnv): Promise<Run> {
  const script = join(import.meta.dirname, '..', 'doctor.ts')
  const options = { env: { ...programEnvironment(), ...env } }
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], options, (error, output) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output }),
    )
  })
}
