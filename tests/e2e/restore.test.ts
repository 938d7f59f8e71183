import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import type { EmbeddedPart } from '#infra/embedded/embedded-part.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { signalGroup } from '#infra/embedded/guarded-process.ts'
import { startPostgres } from '#infra/embedded/start-postgres.ts'
import { migrate } from '#infra/migrate.ts'
import { countedAndRecounted } from '#services/sink/testing/recount-rollups.ts'
import { backUpPostgres, restorePostgres } from '../support/back-up-postgres.ts'
import { createWebhook } from '../support/create-webhook.ts'
import { testInfrastructure } from '../support/infrastructure.ts'
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts'
import { describeLedger, failingScores, readLedger } from '../support/pipeline-ledger.ts'
import { sendPrompts } from '../support/send-prompts.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

jest.setTimeout(300_000)

const harmless = (count: number) =>
  Array.from({ length: count }, (_, number) => `Good morning number ${number}`)
/** Each has one failing score, of pii_detection. */
const failing = (count: number) =>
  Array.from({ length: count }, (_, number) => `Call me: my card ${number} is 4111 1111 1111 1111`)

let directory: string
let port: number
let postgres: EmbeddedPart
let provider: MockProvider
let receiver: WebhookReceiver
let stack: Stack
const sent: string[] = []

const start = () =>
  startPostgres({
    directory: join(directory, 'postgres'),
    logFile: join(directory, 'postgres.log'),
    port,
    durable: false,
  })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-restore-'))
  ;[port] = (await freePorts(1)) as [number]
  postgres = await start()
  await migrate(postgres.address)
  provider = await startMockProvider()
  receiver = await startWebhookReceiver()
  stack = await startStack({
    upstreamUrl: provider.url,
    insecureWebhookHosts: '127.0.0.1',
    databaseUrl: postgres.address,
  })
  receiver.trust(await createWebhook(stack, receiver.url))
})

afterAll(async () => {
  await stack.stop()
  await receiver.close()
  await provider.stop()
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
})

test('Postgres is lost and comes back as it was: the gap comes again from Kafka, every call and score once, and no receiver hears anything twice', async () => {
  const backup = join(directory, 'backup')
  await send([...failing(3), ...harmless(20)])
  await receiver.waitFor((all) => all.length === 3)
  await settled()
  await Promise.all([
    backUpPostgres(postgres.address, join(directory, 'postgres'), backup),
    send(harmless(10)),
  ])
  await send([...failing(4), ...harmless(20)])
  await receiver.waitFor((all) => all.length === 7)
  await settled()
  const complete = await readLedger(stack.databaseUrl)

  // Taken, and perhaps not stored yet.
  await send(harmless(10))
  signalGroup(postgres.pid, 'SIGKILL')
  await postgres.exited
  await rm(join(directory, 'postgres'), { recursive: true })
  const { api, sink, scorer, notifier } = stack.processes
  await Promise.all([api, sink, scorer, notifier].map((service) => service.stop()))
  // Spooled by the gateway: nobody can take them.
  await send(harmless(5))

  restorePostgres(backup, join(directory, 'postgres'))
  postgres = await start()
  const { stored } = await readLedger(stack.databaseUrl)
  expect(stored.length).toBeGreaterThanOrEqual(23)
  expect(stored.length).toBeLessThanOrEqual(33)
  expect(await rewind()).toContain('nothing was changed')
  const said = await rewind('--apply')
  expect(said).toContain('\n4 events stay told; 0 that the notifier had not finished are raised again\n')
  await Promise.all([api, sink, scorer, notifier].map((service) => service.startAgain()))

  await settled()
  const ledger = await readLedger(stack.databaseUrl)
  expect(ledger.stored.toSorted()).toEqual(sent.toSorted())
  expect(new Set(ledger.scores.map(({ requestId, scorerName }) => `${requestId}/${scorerName}`)).size).toBe(
    ledger.scores.length,
  )
  expect(failingScores(ledger)).toEqual(failingScores(complete))
  await expectRecounted()
  // One more goes the whole way, behind whatever would come twice.
  await send(failing(1))
  await receiver.waitFor((all) => all.length > 7, 120_000)
  expect(receiver.deliveries.map(({ envelope: { data } }) => data['request_id']).toSorted()).toEqual(
    (await readLedger(stack.databaseUrl)).scores
      .filter(({ label }) => label === 'unsafe')
      .map(({ requestId }) => requestId)
      .toSorted(),
  )
})

async function send(prompts: readonly string[]): Promise<void> {
  sent.push(...(await sendPrompts({ ...stack, prompts, concurrency: 4 })))
}

/** Everything sent is stored, scored by every scorer, and told. */
async function settled(): Promise<void> {
  const read = () => readLedger(stack.databaseUrl)
  await until(
    async () => {
      const { stored, scores, unpublished } = await read()
      const isScored = stored.length >= sent.length && scores.length >= sent.length * 11
      return isScored && unpublished === 0 && (await undelivered()) === 0
    },
    120_000,
    async () => `${describeLedger(await read(), sent.length)}, ${await undelivered()} not delivered`,
  )
}

/** Of what the delivery log knows: a receiver hears of an event before it is written that it did. */
const undelivered = () =>
  withPool(async (pool) => {
    const { rows } = await pool.query<{ count: number }>(
      `select (select count(*) from webhook_deliveries where status <> 'delivered')::int
         + (select count(*) from webhook_waiting)::int as count`,
    )
    return rows[0]?.count
  })

async function rewind(...options: string[]): Promise<string> {
  const { brokers, registryUrl } = testInfrastructure()
  const script = join(import.meta.dirname, '..', '..', 'scripts', 'rewind.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...options], {
    env: {
      PATH: process.env['PATH'],
      KAFKA_BROKERS: brokers.join(),
      SCHEMA_REGISTRY_URL: registryUrl,
      DATABASE_URL: stack.databaseUrl,
      TOPIC_PREFIX: stack.topicPrefix,
    },
  })
  return stdout
}

const expectRecounted = () =>
  withPool(async (pool) => {
    const { counted, recounted } = await countedAndRecounted(pool, stack.projectId)
    expect(counted).toEqual(recounted)
  })

async function withPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
