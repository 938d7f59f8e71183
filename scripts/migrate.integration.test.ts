import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { Client } from 'pg'
import { createTopics } from '#infra/create-topics.ts'
import { migrationStatus } from '#infra/migrate.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { topicsToCreate } from '#schemas/topics.ts'
import { startCappedKafka } from '#tests/support/start-capped-kafka.ts'
import { deleteTopics, randomName, testInfrastructure } from '#tests/support/infrastructure.ts'

const { brokers, registryUrl, postgresUrl } = testInfrastructure()
const log = createLog('migrate-test', 'silent')
const kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'migrate-test', log })
const prefix = `${randomName('migrate')}.`
const cacheDirectory = process.env['SLUICE_CACHE_DIR'] ?? join(import.meta.dirname, '..', '.cache')
const database = randomName('migrate')
const databaseUrl = new URL(postgresUrl)
databaseUrl.pathname = `/${database}`

jest.setTimeout(300_000)
beforeAll(() => administer(`create database "${database}"`))
afterAll(async () => {
  await administer(`drop database "${database}" with (force)`)
  await deleteTopics(prefix)
})

async function administer(statement: string): Promise<void> {
  const client = new Client({ connectionString: postgresUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

interface Run {
  code: number
  stdout: string
  stderr: string
}

async function migrate(args: string[], more: Record<string, string> = {}): Promise<Run> {
  const env = {
    ...process.env,
    KAFKA_BROKERS: brokers.join(),
    SCHEMA_REGISTRY_URL: registryUrl,
    DATABASE_URL: databaseUrl.href,
    TOPIC_PREFIX: prefix,
    ...more,
  }
  const script = join(import.meta.dirname, 'migrate.ts')
  return promisify(execFile)(process.execPath, [script, ...args], { env }).then(
    (said) => ({ ...said, code: 0 }),
    (error: unknown) => error as Run,
  )
}

const ours = () =>
  withAdmin(kafka, async (admin) =>
    (await admin.listTopics()).filter((name) => name.startsWith(prefix)).sort(),
  )

test('names missing topics, one per line, and creates or changes nothing', async () => {
  const { code, stdout, stderr } = await migrate(['--check-topics-only'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  const missing = topicsToCreate(prefix).map(
    ({ name }) => `${name} is missing, or this user may not see it (Describe)\n`,
  )
  expect(stdout).toBe(missing.join(''))
  expect(await ours()).toEqual([])
  expect((await migrationStatus(databaseUrl.href)).applied).toEqual([])
})

test('if topics meet the requirements, updates database and schemas and leaves topics alone', async () => {
  await createTopics({ kafka, prefix, replicationFactor: 1, log })
  const before = await ours()
  expect(await migrate(['--check-topics-only'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/topics are as needed, database and schemas are up to date\n$/),
  })
  expect((await migrationStatus(databaseUrl.href)).pending).toEqual([])
  expect(await ours()).toEqual(before)
  const { code, stdout } = await migrate(['--check-topics-only'], {
    KAFKA_TOPIC_PARTITIONS: 'event.raised:9',
  })
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: `${prefix}event.raised has 6 partitions, not 9\n${prefix}event.raised.dlq has 6 partitions, not 9\n`,
  })
})

test('without the option, applies KAFKA_TOPIC_PARTITIONS, and names an invalid one', async () => {
  expect(await migrate([], { KAFKA_TOPIC_PARTITIONS: 'event.raised:9' })).toMatchObject({ code: 0 })
  expect(await migrate(['--check-topics-only'], { KAFKA_TOPIC_PARTITIONS: 'event.raised:9' })).toMatchObject({
    code: 0,
  })
  expect(await migrate([], { KAFKA_TOPIC_PARTITIONS: 'event.rised:9' })).toMatchObject({
    code: 2,
    stderr: 'sluice: the configuration is wrong\nKAFKA_TOPIC_PARTITIONS: there is no topic event.rised\n',
  })
})

test('a refusal of Kafka is a sentence, not a stack, and its remedy works', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-migrate-'))
  const broker = await startCappedKafka(directory, cacheDirectory)
  try {
    const there = { KAFKA_BROKERS: broker.address, TOPIC_PREFIX: `${prefix}capped.` }
    const { code, stderr } = await migrate([], there)
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^sluice: Kafka refuses topic \S+ \(POLICY_VIOLATION\), requested: max\.message\.bytes 16777216; Kafka says: .*: set KAFKA_MAX_RECORD_BYTES, .*\n$/,
    )
    expect(await migrate([], { ...there, KAFKA_MAX_RECORD_BYTES: '8388608' })).toMatchObject({
      code: 0,
      stderr: '',
    })
  } finally {
    await broker.stop()
    await rm(directory, { recursive: true, force: true })
  }
})
