import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { createElection, upkeepLocks } from './election.ts'
import { createRetention } from './apply-retention.ts'
import { dayOf } from '../stores/day-partitions.ts'
import { contentTables, deleteContent, deleteOldLogs, dropOldestDay } from '../stores/retention-store.ts'
import { addWebhook } from '../testing/add-webhook.ts'

const dayMs = 86_400_000
let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 4 })
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

async function addProject(retentionDays: number | null): Promise<string> {
  const id = newId('project')
  await pool.query('insert into projects (id, name, retention_days, created_at) values ($1, $2, $3, now())', [
    idToUuid(id),
    'a project',
    retentionDays,
  ])
  return id
}

/** A request that is `days` old, with its bodies, their signature and a score with details. */
async function seed(projectId: string, days: number): Promise<void> {
  const id = await seedRequest(pool, createSealer([]), {
    projectId,
    id: newId('request', Date.now() - days * dayMs),
    requestBody: '{"prompt":"hello"}',
    scores: [{ scorer: 'pii_detection', value: 1, label: 'safe' }],
  })
  await pool.query(
    `insert into search_signatures select project_id, request_id, created_at, 's1', '\\x01' from llm_request_bodies where request_id = $1`,
    [idToUuid(id)],
  )
}

/** How many days old the rows of a table are. */
async function ages(table: string, column: string, projectId: string): Promise<number[]> {
  const { rows } = await pool.query<{ age: number }>(
    `select extract(day from now() - ${column})::integer as age from ${table} where project_id = $1 order by 1`,
    [idToUuid(projectId)],
  )
  return rows.map(({ age }) => age)
}

function retention(metadataDays: number | undefined, clock = systemClock) {
  const log = createLog('test', 'silent')
  const election = createElection(pool, upkeepLocks.retention)
  return createRetention({ pool, ...election, metadataDays, clock, log, metrics: createMetrics() })
}

async function keep(metadataDays: number | undefined): Promise<void> {
  const run = retention(metadataDays)
  while (await run());
}

test('content goes after 90 days or as the project says; calls and scores stay unless their own age is set', async () => {
  const [usual, short] = [await addProject(null), await addProject(7)]
  for (const days of [1, 8, 89, 92, 200]) {
    await seed(usual, days)
    await seed(short, days)
  }
  await keep(undefined)
  for (const table of ['llm_request_bodies', 'request_previews', 'search_signatures']) {
    expect(await ages(table, 'created_at', usual)).toEqual([1, 8, 89])
    expect(await ages(table, 'created_at', short)).toEqual([1])
  }
  expect(await ages('safety_score_details', 'request_created_at', usual)).toEqual([1, 8, 89])
  expect(await ages('safety_score_details', 'request_created_at', short)).toEqual([1])
  for (const project of [usual, short]) {
    expect(await ages('llm_requests', 'created_at', project)).toEqual([1, 8, 89, 92, 200])
    expect(await ages('safety_scores', 'request_created_at', project)).toEqual([1, 8, 89, 92, 200])
  }
  await pool.query(
    `insert into tool_rollups select project_id, date_trunc('hour', created_at), id, -1, false, 'api', 't', null, 1, 0, 0, created_at
     from llm_requests where project_id = $1`,
    [idToUuid(usual)],
  )
  await keep(100)
  for (const table of ['safety_scores', 'request_verdicts']) {
    expect(await ages(table, 'request_created_at', usual)).toEqual([1, 8, 89, 92])
  }
  expect(await ages('llm_requests', 'created_at', usual)).toEqual([1, 8, 89, 92])
  expect(await ages('tool_rollups', 'last_at', usual)).toEqual([1, 8, 89, 92])
})

test('what people said of scores goes with the scores, and is counted no longer', async () => {
  const [one, other] = [await addProject(null), await addProject(7)]
  for (const project of [one, other]) {
    for (const days of [1, 92, 200]) await seed(project, days)
    // All said this week, by which they would be counted by the day.
    await pool.query(
      `insert into score_reviews select gen_random_uuid(), project_id, request_id, request_created_at, id, scorer_name, scorer_version, score_label,
         'unsafe', false, 'somebody', 'quotes it', now() - interval '2 days' from safety_scores where project_id = $1`,
      [idToUuid(project)],
    )
  }
  const reviewed = (project: string) => ages('score_reviews', 'request_created_at', project)
  await keep(undefined)
  for (const project of [one, other]) expect(await reviewed(project)).toEqual([1, 92, 200])
  await keep(100)
  for (const project of [one, other]) expect(await reviewed(project)).toEqual([1, 92])
  const { rows } = await pool.query('select reviews, missed from review_counts where project_id = any($1)', [
    [one, other].map(idToUuid),
  ])
  expect(rows).toEqual(Array(2).fill({ reviews: 2, missed: 2 }))
})

test('nothing is old by the clock of one sink alone', async () => {
  const [usual, short] = [await addProject(null), await addProject(7)]
  for (const project of [usual, short]) await seed(project, 5)
  const run = retention(100, { ...systemClock, now: () => Date.now() + 3_650 * dayMs })
  while (await run());
  for (const project of [usual, short]) {
    expect(await ages('llm_request_bodies', 'created_at', project)).toEqual([5])
    expect(await ages('llm_requests', 'created_at', project)).toEqual([5])
  }
})

test('what one step of a round cannot do keeps the others from nothing', async () => {
  const short = await addProject(7)
  await seed(short, 8)
  await seed(short, 93)
  const reader = await pool.connect()
  try {
    await reader.query('begin')
    await reader.query('select from safety_score_details limit 1')
    await expect(keep(undefined)).rejects.toMatchObject({ code: 'POSTGRES_UNAVAILABLE' })
    expect(await ages('llm_request_bodies', 'created_at', short)).toEqual([])
    // While another sink is at it and does not end, a round is none.
    await reader.query('rollback; begin; select pg_advisory_xact_lock(7355611)')
    expect(await retention(undefined)()).toBe('not_elected')
  } finally {
    await reader.query('rollback')
    reader.release()
  }
  // Nor does what cannot be deleted keep the day.
  await pool.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'too slow' using errcode = '57014'; end $$;
     create trigger refused before delete on dead_letters execute function refuse()`,
  )
  await expect(keep(undefined)).rejects.toMatchObject({ code: 'POSTGRES_UNAVAILABLE' })
  await pool.query('drop trigger refused on dead_letters')
  const day = dayOf(Date.now() - 93 * dayMs).replaceAll('-', '')
  const left = await pool.query('select from pg_class where relname = $1', [`safety_score_details_${day}`])
  expect(left.rowCount).toBe(0)
})

test('events and deliveries go with the content that they quote, what goes on stays; dead letters after 90 days', async () => {
  const [usual, short] = [await addProject(null), await addProject(7)]
  for (const projectId of [usual, short]) {
    const webhookId = await addWebhook(pool, projectId)
    for (const days of [1, 8, 92]) {
      const at = new Date(Date.now() - days * dayMs)
      for (const [status, attemptAt, waits] of [
        ['delivered', at, false],
        ['failed', at, false],
        ['retrying', at, false],
        ['retrying', new Date(), false],
        ['pending', at, true],
      ] as const) {
        const { rows } = await pool.query<{ id: string }>(
          `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, created_at)
           values ($5, $1, $2, gen_random_uuid(), 'threat_detected', $3, '{}', $4, $3) returning id`,
          [idToUuid(webhookId), idToUuid(projectId), at, status, idToUuid(newId('delivery', at.getTime()))],
        )
        await pool.query(
          'insert into webhook_attempts (delivery_id, number, lease_until, at) values ($1, 1, $2, $2)',
          [rows[0]?.id, attemptAt],
        )
        if (waits)
          await pool.query('insert into webhook_waiting values ($1, $2, 1, 1, null, now())', [
            rows[0]?.id,
            idToUuid(webhookId),
          ])
      }
      for (const published of [at, null]) {
        await pool.query(
          `insert into event_outbox (id, event, project_id, created_at, data, published_at)
           values (gen_random_uuid(), 'threat_detected', $1, $2, '{}', $3)`,
          [idToUuid(projectId), at, published],
        )
      }
      await pool.query(
        `insert into dead_letters (id, cluster, topic, partition, "offset", code, message, project_id, dead_at)
         values (gen_random_uuid(), 'c', 't', 0, 0, 'X', 'x', $1, $2)`,
        [idToUuid(projectId), at],
      )
    }
  }
  await keep(undefined)
  const deliveries = (projectId: string) => ages('webhook_deliveries', 'created_at', projectId)
  expect(await deliveries(usual)).toEqual([1, 1, 1, 1, 1, 8, 8, 8, 8, 8, 92, 92])
  expect(await deliveries(short)).toEqual([1, 1, 1, 1, 1, 8, 8, 92, 92])
  expect(await ages('event_outbox', 'created_at', usual)).toEqual([1, 1, 8, 8, 92, 92])
  expect(await ages('event_outbox', 'created_at', short)).toEqual([1, 1, 8, 92])
  expect(await ages('dead_letters', 'dead_at', short)).toEqual([1, 8])
  expect((await pool.query('select from webhook_attempts')).rowCount).toBe(21)
})

test('a webhook goes at once, however much was delivered to it; then its deliveries go, whatever they are, and those of others stay', async () => {
  const projectId = await addProject(null)
  const [gone, other] = [await addWebhook(pool, projectId), await addWebhook(pool, projectId)]
  for (const [webhookId, count] of [
    [gone, 5_001],
    [other, 2],
  ] as const) {
    await pool.query(
      `with made as (
         insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, created_at)
         select gen_random_uuid(), $1, $2, gen_random_uuid(), 'threat_detected', now(), '{}', now() from generate_series(1, $3)
         returning id, webhook_id
       ), attempted as (insert into webhook_attempts (delivery_id, number, lease_until, at) select id, 1, now(), now() from made)
       insert into webhook_waiting select id, webhook_id, 1, 1, null, now() from made limit 1`,
      [idToUuid(webhookId), idToUuid(projectId), count],
    )
  }
  await pool.query('delete from webhooks where id = $1', [idToUuid(gone)])
  expect(await ages('webhook_deliveries', 'created_at', projectId)).toHaveLength(5_003)
  await keep(undefined)
  expect(await ages('webhook_deliveries', 'created_at', projectId)).toHaveLength(2)
  const { rows } = await pool.query(
    `select (select count(*) from webhook_attempts a where not exists (select from webhook_deliveries d where d.id = a.delivery_id))::integer as orphans,
       (select count(*) from webhook_waiting where webhook_id = any($1::uuid[]))::integer as waiting`,
    [[gone, other].map(idToUuid)],
  )
  expect(rows).toEqual([{ orphans: 0, waiting: 1 }])
})

test('no piece of retention may be answered by reading all attempts, or all that wait, once', async () => {
  const plans: string[] = []
  const client = {
    async query(text: string, values: unknown[]) {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rowCount: 0 }
    },
  }
  await deleteContent(client as unknown as pg.ClientBase, idToUuid(newId('project')), new Date(), 1_000)
  await deleteOldLogs(client as unknown as pg.ClientBase, new Date(), 1_000)
  const ofDeliveries = plans.filter((plan) => plan.includes('webhook_attempts'))
  expect(ofDeliveries).toHaveLength(2)
  expect(ofDeliveries.filter((plan) => plan.includes('hashed SubPlan'))).toEqual([])
})

test('days go before the first that is kept, the oldest first, and that one stays', async () => {
  for (const day of ['2019-01-02', '2019-01-01']) await pool.query('select ensure_day_partitions($1)', [day])
  const drop = () => inTransaction(pool, (client) => dropOldestDay(client, contentTables, '2019-01-02'))
  const dropped: string[] = []
  for (let name = await drop(); name !== null; name = await drop()) dropped.push(name)
  expect(dropped).toEqual(contentTables.map((table) => `${table}_20190101`))
})
