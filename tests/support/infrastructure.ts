import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { Client, escapeIdentifier } from 'pg'
import { quietQueues } from '#runtime/kafka/quiet-queues.ts'
import type { Addresses } from '#infra/embedded/start-temporary.ts'
import { migratedTemplate } from './template-database.ts'
import { until } from './until.ts'

/** The shared Kafka, registry and Postgres of this test run (see global-setup.ts). */
export function testInfrastructure(): Addresses {
  return JSON.parse(readFileSync(fromSetup('SLUICE_TEST_INFRA'), 'utf8')) as Addresses
}

/**
 * A unique name for a topic prefix, group or similar on the shared parts. Topics and databases that carry the
 * run's names must be gone at its end, or the run fails.
 */
export function randomName(prefix: string): string {
  return `${prefix}-${fromSetup('SLUICE_TEST_RUN')}-${randomBytes(4).toString('hex')}`
}

export interface TestDatabase {
  /** Superuser's URL of this database. */
  url: string
  /** Waits this long for connections to close, then terminates the rest. */
  drop(timeoutMs?: number): Promise<void>
}

/** An empty database for one test file with all migrations applied, copied from a template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { postgresUrl } = testInfrastructure()
  const name = randomName('test')
  await withMaintenance(postgresUrl, async (client) => {
    const template = await migratedTemplate(client, (database) => databaseUrl(postgresUrl, database))
    // The default strategy also writes the whole copy to the log, which doubles the cost.
    const copied = `template ${escapeIdentifier(template)} strategy file_copy`
    await client.query(`create database ${escapeIdentifier(name)} ${copied}`)
  })
  const drop = (timeoutMs = 30_000) =>
    withMaintenance(postgresUrl, async (client) => {
      await waitUntilLeft(client, name, Date.now() + timeoutMs)
      await client.query(`drop database if exists ${escapeIdentifier(name)} with (force)`)
    })
  return { url: databaseUrl(postgresUrl, name), drop }
}

/**
 * A pool reports its end before its connections have closed, and terminating one of those raises an unhandled
 * error.
 */
async function waitUntilLeft(client: Client, database: string, untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    const { rowCount } = await client.query('select from pg_stat_activity where datname = $1', [database])
    if (rowCount === 0) return
    await delay(20)
  }
}

/** Deletes every topic whose name begins with the prefix, at the end of a test. */
export async function deleteTopics(prefix: string): Promise<void> {
  quietQueues()
  const kafka = new Kafka({ brokers: testInfrastructure().brokers, logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  try {
    const told = new Set<string>()
    let [left, problem]: [string[], unknown] = [[], undefined]
    const tell = async (topics: string[]) => {
      await admin.deleteTopics({ topics, timeout: 30_000 })
      for (const topic of topics) told.add(topic)
    }
    // Listed repeatedly: new topics appear late, and deleted ones stay for a while.
    await until(
      async () => {
        left = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix))
        const topics = left.filter((topic) => !told.has(topic))
        // If one has gone meanwhile, the request fails for all.
        if (topics.length > 0) await tell(topics).catch((error: unknown) => (problem = error))
        return left.length === 0
      },
      180_000,
      () => `still there: ${left.join()}; ${String(problem)}`,
    )
  } finally {
    await admin.disconnect()
  }
}

function databaseUrl(postgresUrl: string, name: string): string {
  const url = new URL(postgresUrl)
  url.pathname = `/${name}`
  return url.href
}

async function withMaintenance(postgresUrl: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: databaseUrl(postgresUrl, 'postgres') })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

function fromSetup(name: 'SLUICE_TEST_INFRA' | 'SLUICE_TEST_RUN'): string {
  const value = process.env[name]
  if (value === undefined)
    throw new Error(`${name} is not set: run this by jest with --selectProjects integration`)
  return value
}
