import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { clientsAheadMs } from '#capture/record/read-bodies.ts'
import { newId } from '#schemas/ids.ts'
import { countedAndRecounted } from '#services/sink/testing/recount-rollups.ts'
import { backUpPostgres, restorePostgres } from '../support/back-up-postgres.ts'
import { setBreakableFixture, type BreakableFixture } from '../support/breakable-fixture.ts'
import { testInfrastructure } from '../support/infrastructure.ts'
import { describeLedger, failingScores, readLedger, type PipelineLedger } from '../support/pipeline-ledger.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { sendPrompts } from '../support/send-prompts.ts'
import { until } from '../support/until.ts'

jest.setTimeout(300_000)

const harmless = (count: number) =>
  Array.from({ length: count }, (_, number) => `Good morning number ${number}`)
/** Each has one failing score, of pii_detection. */
const failing = (count: number) =>
  Array.from({ length: count }, (_, number) => `Call me: my card ${number} is 4111 1111 1111 1111`)

let fixture: BreakableFixture
const sent: string[] = []

beforeAll(async () => {
  fixture = await setBreakableFixture({ durable: false })
})
afterAll(() => fixture.stop())

test('Postgres is restored from a backup: Kafka delivers the gap again, every call and score once, and no receiver gets anything twice', async () => {
  const { stack, postgres, receiver } = fixture
  const backup = join(fixture.directory, 'backup')
  await Promise.all([send([...failing(3), ...harmless(20)]), sendAhead()])
  await receiver.waitFor((all) => all.length === 3)
  await settled()
  await Promise.all([backUpPostgres(postgres.address, postgres.directory, backup), send(harmless(10))])
  await send([...failing(4), ...harmless(20)])
  await receiver.waitFor((all) => all.length === 7)
  await settled()
  const complete = await readLedger(stack.databaseUrl)

  // Taken, but perhaps not stored yet.
  await send(harmless(10))
  await postgres.kill()
  await rm(postgres.directory, { recursive: true })
  const { api, sink, scorer, notifier } = stack.processes
  await Promise.all([api, sink, scorer, notifier].map((service) => service.stop()))
  // Spooled by the gateway: no service can take them.
  await send(harmless(5))

  restorePostgres(backup, postgres.directory)
  await postgres.startAgain()
  const { stored } = await readLedger(stack.databaseUrl)
  expect(stored.length).toBeGreaterThanOrEqual(24)
  expect(stored.length).toBeLessThanOrEqual(34)
  expect(await rewind()).toContain('nothing was changed')
  const said = await rewind('--apply')
  expect(said).toContain('\n4 events stay published; 0 that the notifier had not finished are raised again\n')
  await sink.startAgain()
  // No scorer runs: scores that arrive before their call are restored too.
  await untilScoredAgain(complete)
  await Promise.all([api, scorer, notifier].map((service) => service.startAgain()))

  await settled()
  const ledger = await readLedger(stack.databaseUrl)
  expect(ledger.stored.toSorted()).toEqual(sent.toSorted())
  expect(new Set(ledger.scores.map(({ requestId, scorerName }) => `${requestId}/${scorerName}`)).size).toBe(
    ledger.scores.length,
  )
  expect(failingScores(ledger)).toEqual(failingScores(complete))
  await expectRecounted()
  // One more call goes the whole way, after any possible duplicates.
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
  sent.push(...(await sendPrompts({ ...fixture.stack, prompts, concurrency: 4 })))
}

/** A client whose clock is ahead by all that ingest accepts: its call is the newest for two hours. */
async function sendAhead(): Promise<void> {
  const { apiUrl, apiKey } = fixture.stack
  const id = newId('request', Date.now() + clientsAheadMs - 60_000)
  const answer = await fetch(`${apiUrl}/internal/log`, {
    method: 'POST',
    headers: { 'x-service-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      id,
      request_body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Good morning' }] },
      response_body: { choices: [{ message: { role: 'assistant', content: 'Good morning' } }] },
    }),
  })
  expect(answer.status).toBe(202)
  sent.push(id)
}

/** Every earlier score exists unchanged. */
async function untilScoredAgain({ scores }: PipelineLedger): Promise<void> {
  const wordsOf = (all: PipelineLedger['scores']) => all.map((score) => Object.values(score).join())
  const missing = async () => {
    const there = new Set(wordsOf((await readLedger(fixture.stack.databaseUrl)).scores))
    return wordsOf(scores).filter((words) => !there.has(words))
  }
  await until(
    async () => (await missing()).length === 0,
    120_000,
    async () => `missing, of ${scores.length}: ${(await missing()).slice(0, 5).join(' ')}`,
  )
}

/** Everything sent is stored, scored by every scorer, and delivered. */
async function settled(): Promise<void> {
  const read = () => readLedger(fixture.stack.databaseUrl)
  await until(
    async () => {
      const { stored, scores, unpublished } = await read()
      const isScored = stored.length >= sent.length && scores.length >= sent.length * 10
      return isScored && unpublished === 0 && (await undelivered()) === 0
    },
    120_000,
    async () => `${describeLedger(await read(), sent.length)}, ${await undelivered()} not delivered`,
  )
}

/** By the delivery log: a receiver gets an event before the log says so. */
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
      ...programEnvironment(),
      KAFKA_BROKERS: brokers.join(),
      SCHEMA_REGISTRY_URL: registryUrl,
      DATABASE_URL: fixture.stack.databaseUrl,
      TOPIC_PREFIX: fixture.stack.topicPrefix,
    },
  })
  return stdout
}

const expectRecounted = () =>
  withPool(async (pool) => {
    const { counted, recounted } = await countedAndRecounted(pool, fixture.stack.projectId)
    expect(counted).toEqual(recounted)
  })

async function withPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: fixture.stack.databaseUrl, max: 1 })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
