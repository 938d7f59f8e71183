import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createPool } from '#runtime/postgres.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { until } from '#tests/support/until.ts'
import { raisedEvent, webhookDelivery } from '../testing/sample-records.ts'
import { oneOf } from './batcher.ts'
import { createDeliveryStore, type DeliveryStore, type FinishedAttempt } from './delivery-store.ts'
import { createWaitingStore } from './waiting-store.ts'
import { createWebhookStore } from './webhook-store.ts'

let database: TestDatabase
let pool: pg.Pool
/** Deletes within a transaction of its own. */
let deleter: pg.Client
let store: DeliveryStore

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  deleter = new pg.Client({ connectionString: database.url })
  await deleter.connect()
  store = createDeliveryStore(pool, 15_000)
})

afterAll(async () => {
  await deleter.end()
  await pool.end()
  await database.drop()
})

async function addWebhook() {
  const [id, projectId] = [newId('webhook'), newId('project')]
  const project = idToUuid(projectId)
  await pool.query("insert into projects (id, name, created_at) values ($1, 'one', now())", [project])
  await pool.query(
    `insert into webhooks (id, project_id, url, events, secret_codec, secret_data, created_at, updated_at)
     values ($1, $2, 'https://one.example', '{}', 'none', '', now(), now())`,
    [idToUuid(id), idToUuid(projectId)],
  )
  return webhookDelivery({ webhook_id: id, event: raisedEvent({ project_id: projectId }) })
}

async function versionOf({ webhook_id: id, project_id: projectId }: WebhookDelivery) {
  const found = await createWebhookStore(pool).find(projectId, id)
  return { version: found?.version ?? 'gone' }
}

const beginAs = (delivery: WebhookDelivery, webhook: { version: string }) =>
  oneOf(store.beginAll)({ delivery, webhook })
const finish = (delivery: WebhookDelivery, attempt: FinishedAttempt) =>
  oneOf(store.finishAll)({ delivery, attempt })
/** As who has just read the webhook. */
const begin = async (delivery: WebhookDelivery) => beginAs(delivery, await versionOf(delivery))

const deleteWebhook = 'delete from webhooks where id = $1'
const deleteDelivery = 'delete from webhook_deliveries where id = $1'

/** The work waits for a deletion that is under way, and goes on when that has taken place. */
async function whileDeleting<T>(statement: string, id: string, work: () => Promise<T>): Promise<T> {
  await deleter.query('begin')
  await deleter.query(statement, [idToUuid(id)])
  const result = work()
  await until(isWaiting)
  await deleter.query('commit')
  return result
}

async function isWaiting(): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return rowCount === 1
}

const ended = (error: string | null): FinishedAttempt => ({
  finishedAtMs: Date.now(),
  statusCode: error === null ? 200 : 503,
  durationMs: 1,
  error,
  excerpt: null,
  isLast: false,
  wasSent: true,
})

async function statusOf({ delivery_id: id }: { delivery_id: string }) {
  const { rows } = await pool.query('select status, attempt_count from webhook_deliveries where id = $1', [
    idToUuid(id),
  ])
  return rows[0] as unknown
}

async function leftOf({ delivery_id: id }: { delivery_id: string }) {
  const { rows } = await pool.query<{ deliveries: number; attempts: number }>(
    `select (select count(*)::integer from webhook_deliveries where id = $1) as deliveries,
       (select count(*)::integer from webhook_attempts where delivery_id = $1) as attempts`,
    [idToUuid(id)],
  )
  return rows[0]
}

/** In which pages of their tables they and their attempts stand. */
async function pagesOf(deliveries: readonly WebhookDelivery[]) {
  const { rows } = await pool.query(
    `select d.id, (d.ctid::text::point)[0] as delivery, (a.ctid::text::point)[0] as attempt
     from webhook_deliveries d join webhook_attempts a on a.delivery_id = d.id where d.id = any($1::uuid[]) order by d.id`,
    [deliveries.map(({ delivery_id: id }) => idToUuid(id))],
  )
  expect(rows).toHaveLength(deliveries.length)
  return rows as unknown[]
}

async function attemptsWaiting(...deliveries: WebhookDelivery[]): Promise<(number | undefined)[]> {
  const { rows } = await pool.query<{ delivery_id: string; attempt: number }>(
    'select delivery_id, attempt from webhook_waiting',
  )
  const ids = deliveries.map(({ delivery_id: id }) => idToUuid(id))
  return ids.map((id) => rows.find(({ delivery_id: waiting }) => waiting === id)?.attempt)
}

test('a delivery goes with its attempts', async () => {
  const [one, other] = [await addWebhook(), await addWebhook()]
  await store.insert([one, other])
  await store.claim(one)
  await store.claim(other)
  await deleter.query(deleteDelivery, [idToUuid(one.delivery_id)])
  expect(await leftOf(one)).toEqual({ deliveries: 0, attempts: 0 })
  expect(await leftOf(other)).toEqual({ deliveries: 1, attempts: 1 })
})

test('no delivery comes of a webhook that goes at this moment; that of another does', async () => {
  const [one, other] = [await addWebhook(), await addWebhook()]
  await whileDeleting(deleteWebhook, one.webhook_id, () => store.insert([one, other]))
  expect(await leftOf(one)).toEqual({ deliveries: 0, attempts: 0 })
  expect(await leftOf(other)).toEqual({ deliveries: 1, attempts: 0 })
})

test('what waits for its place is written with its delivery, once; what is there already waits again, but not before a later attempt', async () => {
  const [fresh, there, retried] = [await addWebhook(), await addWebhook(), await addWebhook()]
  await store.insert([there, retried])
  await createWaitingStore(pool).add({ ...retried, attempt: 3 }, { inMs: 0 })
  for (let time = 0; time < 2; time++)
    expect(await store.insertWaiting([fresh, there, retried])).toEqual([true, true, true])
  expect(await attemptsWaiting(fresh, there, retried)).toEqual([1, 1, 3])
  expect(await leftOf(fresh)).toEqual({ deliveries: 1, attempts: 0 })
})

test('what somebody else begins at this moment does not wait, and that is told; the other does', async () => {
  const [one, other] = [await addWebhook(), await addWebhook()]
  await deleter.query('begin')
  await createDeliveryStore(deleter as unknown as pg.Pool, 15_000).insert([one])
  const waits = store.insertWaiting([one, other])
  await until(isWaiting)
  await deleter.query('commit')
  expect(await waits).toEqual([false, true])
  expect(await attemptsWaiting(one, other)).toEqual([undefined, 1])
})

test('nothing waits of a webhook that goes at this moment; that of another does', async () => {
  const [one, other] = [await addWebhook(), await addWebhook()]
  await whileDeleting(deleteWebhook, one.webhook_id, () => store.insertWaiting([one, other]))
  expect(await leftOf(one)).toEqual({ deliveries: 0, attempts: 0 })
  expect(await attemptsWaiting(one, other)).toEqual([undefined, 1])
})

test('a delivery is begun once, and is then claimed: by nobody else, nor where a record asks for it', async () => {
  const one = await addWebhook()
  const read = await versionOf(one)
  const begun = await Promise.all([beginAs(one, read), beginAs(one, read)])
  expect(begun).toEqual([true, false])
  expect(await begin(one)).toBe(false)
  await store.insert([one])
  expect(await store.claim(one)).toMatchObject({ kind: 'leased' })
  expect(await leftOf(one)).toEqual({ deliveries: 1, attempts: 1 })
  await finish(one, ended(null))
  expect(await statusOf(one)).toEqual({ status: 'delivered', attempt_count: 1 })
})

test('one that is there already is not begun, and can be claimed', async () => {
  const [one, other] = [await addWebhook(), await addWebhook()]
  await store.insert([one])
  expect(await Promise.all([begin(one), begin(other)])).toEqual([false, true])
  expect(await store.claim(one)).toEqual({ kind: 'claimed' })
})

test.each([
  'enabled = false',
  "url = 'https://new.example'",
  "previous_secret_until = now() + interval '1 hour'",
])('what was read of a webhook before it changed begins nothing: %s', async (change) => {
  const [one, other] = [await addWebhook(), await addWebhook()]
  const [before, same] = [await versionOf(one), await versionOf(other)]
  await pool.query(`update webhooks set ${change} where id = $1`, [idToUuid(one.webhook_id)])
  expect(await Promise.all([beginAs(one, before), beginAs(other, same)])).toEqual([false, true])
  expect(await leftOf(one)).toEqual({ deliveries: 0, attempts: 0 })
  expect(await begin(one)).toBe(true)
})

test('nothing is begun of a webhook that goes at this moment; that of another is', async () => {
  const [one, other] = [await addWebhook(), await addWebhook()]
  const begun = await whileDeleting(deleteWebhook, one.webhook_id, () =>
    Promise.all([begin(one), begin(other)]),
  )
  expect(begun).toEqual([false, true])
  expect(await leftOf(one)).toEqual({ deliveries: 0, attempts: 0 })
  expect(await leftOf(other)).toEqual({ deliveries: 1, attempts: 1 })
})

test('no attempt comes of a delivery that goes at this moment; that of another does', async () => {
  const [one, other] = [await addWebhook(), await addWebhook()]
  await store.insert([one, other])
  const claims = await whileDeleting(deleteDelivery, one.delivery_id, () =>
    Promise.all([store.claim(one), store.claim(other)]),
  )
  expect(claims).toEqual([{ kind: 'gone' }, { kind: 'claimed' }])
  expect(await leftOf(one)).toEqual({ deliveries: 0, attempts: 0 })
})

test('a success is not undone by the failure of a later attempt, however late it is written', async () => {
  const one = await addWebhook()
  const second = { ...one, attempt: 2 }
  await store.insert([one])
  await store.claim(one)
  // The lease of the first is over, another has made it and failed, and makes the second.
  await finish(one, ended('not now'))
  expect(await store.claim(second)).toEqual({ kind: 'claimed' })
  await finish(one, ended(null))
  expect(await statusOf(one)).toEqual({ status: 'delivered', attempt_count: 1 })
  expect(await store.claim(second)).toEqual({ kind: 'superseded' })
  await finish(second, ended('not now'))
  expect(await statusOf(one)).toEqual({ status: 'delivered', attempt_count: 2 })
  expect(await store.claim({ ...one, attempt: 3 })).toEqual({ kind: 'superseded' })
  // A replay begins a round, and its failure is the latest that is known.
  const round = { ...one, attempt: 3, first_attempt: 3 }
  expect(await store.claim(round)).toEqual({ kind: 'claimed' })
  expect(await store.claim(round)).toMatchObject({ kind: 'leased' })
  await finish(round, ended('not now'))
  expect(await statusOf(one)).toEqual({ status: 'retrying', attempt_count: 3 })
})

test('the ends of deliveries and attempts are written on the pages of their beginnings: no index learns of them', async () => {
  const one = await addWebhook()
  const version = await versionOf(one)
  const deliveries = Array.from({ length: 200 }, () =>
    webhookDelivery({
      webhook_id: one.webhook_id,
      event: raisedEvent({ project_id: one.project_id, fields: { prompt_snippet: 'words '.repeat(60) } }),
    }),
  )
  expect(await Promise.all(deliveries.map((each) => beginAs(each, version)))).not.toContain(false)
  const before = await pagesOf(deliveries)
  const excerpt = Buffer.from('{"ok":true}')
  await Promise.all(deliveries.map((each) => finish(each, { ...ended(null), excerpt })))
  expect(await statusOf(deliveries[0] ?? one)).toEqual({ status: 'delivered', attempt_count: 1 })
  expect(await pagesOf(deliveries)).toEqual(before)
})

test('plans that are kept from when there were few deliveries read no table whole', async () => {
  const keyed = createPool(
    { DATABASE_URL: database.url, DATABASE_POOL_SIZE: 1 },
    {
      log: createLog('test', 'silent'),
      metrics: createMetrics(),
      applicationName: 'test',
      readsByKey: true,
    },
  )
  const one = await addWebhook()
  await store.insert([one])
  const within = createDeliveryStore(keyed, 15_000)
  // Postgres keeps a plan from the sixth time on.
  for (let time = 0; time < 7; time++) await within.claim(one)
  const { rows } = await keyed.query<Record<'QUERY PLAN', string>>(
    `explain execute claim_attempts('{${idToUuid(one.delivery_id)}}', '{1}', '{t}', 1)`,
  )
  await keyed.end()
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/webhook_attempts_pkey/)
  expect(plan).not.toMatch(/Seq Scan/)
})
