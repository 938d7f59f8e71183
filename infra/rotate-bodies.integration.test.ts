import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { createResealer, createSealer, type Sealed } from '#runtime/sealing.ts'
import { idTimeMs, idToUuid, newId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { dayOf } from '#services/sink/stores/day-partitions.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { bodyKeyStatus, noteBodyKeys, whyNeeded } from './body-key-status.ts'
import { rotateBodies } from './rotate-bodies.ts'
import { sealedColumns } from './sealed-columns.ts'

let database: TestDatabase
let pool: pg.Pool
const key = (id: string) => ({ id, key: randomBytes(32) })
const [older, old, current] = [key('k1'), key('k2'), key('k3')]
const rotated = [current, old, older]

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 4 })
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

async function addProject(): Promise<string> {
  const id = newId('project')
  await pool.query(`insert into projects (id, name, created_at) values ($1, 'p', now())`, [idToUuid(id)])
  return id
}

const body = (id: string, part: string) => JSON.stringify({ id, part, text: 'words '.repeat(100) })
/** A request on its own day, sealed by ingest with `keys`. */
async function seed(
  projectId: string,
  keys: Parameters<typeof createSealer>[0],
  days: number,
): Promise<string> {
  const id = newId('request', Date.now() - days * 86_400_000)
  return seedRequest(pool, createSealer(keys), {
    projectId,
    id,
    requestBody: body(id, 'request'),
    responseBody: body(id, 'response'),
    scores: [{ scorer: 'pii_detection', value: 1, label: 'safe' }],
  })
}

/** A webhook with two secrets, an event and its delivery, and the key of value hashes, sealed with `keys`. */
async function seedWebhook(projectId: string, keys: Parameters<typeof createSealer>[0]) {
  const sealer = createSealer(keys)
  const seal = (id: string, part: 'webhook_secret' | 'event_content' | 'value_hash_key') =>
    sealer.seal(Buffer.from(`${part} of ${id}`), sealedIdentity(projectId, id, part))
  const [webhookId, eventId, contentId] = [newId('webhook'), newId('event'), newId('request')]
  const secret = seal(webhookId, 'webhook_secret')
  const three = ({ codec, key_id, data }: Sealed) => [codec, key_id, data]
  await pool.query(
    `insert into webhooks (id, project_id, url, events, secret_codec, secret_key_id, secret_data, previous_secret_codec,
       previous_secret_key_id, previous_secret_data, created_at, updated_at)
     values ($1, $2, 'https://r.example', '{}', $3, $4, $5, $3, $4, $5, now(), now())`,
    [idToUuid(webhookId), idToUuid(projectId), ...three(secret)],
  )
  const content = seal(contentId, 'event_content')
  await pool.query(
    `insert into event_outbox (id, event, project_id, created_at, data, content_codec, content_key_id, content_data, content_id)
     values ($1, 'threat_detected', $2, now(), '{}', $3, $4, $5, $6)`,
    [idToUuid(eventId), idToUuid(projectId), ...three(content), contentId],
  )
  // The first of a project stays.
  await pool.query(
    `insert into value_hash_keys (project_id, codec, key_id, data, created_at) values ($1, $2, $3, $4, now()) on conflict do nothing`,
    [idToUuid(projectId), ...three(seal(projectId, 'value_hash_key'))],
  )
  // Without content_id the content is bound to the event's id.
  await pool.query(
    `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, content_codec,
       content_key_id, content_data, created_at)
     values (gen_random_uuid(), $1, $2, $3, 'threat_detected', now(), '{}', $4, $5, $6, now())`,
    [idToUuid(webhookId), idToUuid(projectId), idToUuid(eventId), ...three(seal(eventId, 'event_content'))],
  )
}

/** Opens every sealed value of the database with `keys`; returns their texts. */
async function openAll(keys: Parameters<typeof createSealer>[0]): Promise<string[]> {
  const sealer = createSealer(keys)
  const texts: string[] = []
  for (const { table, prefix, identityOf } of sealedColumns) {
    const { rows } = await pool.query<Record<string, string>>(
      `select * from ${table} where ${prefix}data is not null`,
    )
    for (const row of rows) {
      const sealed = {
        codec: row[`${prefix}codec`],
        key_id: row[`${prefix}key_id`],
        data: row[`${prefix}data`],
      }
      texts.push(sealer.open(sealed as unknown as Sealed, identityOf(row)).toString('utf8'))
    }
  }
  return texts.toSorted()
}

test('every column with sealed bytes is rotated', async () => {
  const { rows } = await pool.query<{ column: string }>(
    `select c.relname || '.' || a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attname like '%key\\_id' and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
     and exists (select from pg_attribute d where d.attrelid = c.oid and d.attname = replace(a.attname, 'key_id', 'data'))`,
  )
  const known = sealedColumns.map(({ table, prefix }) => `${table}.${prefix}key_id`)
  expect(rows.map(({ column }) => column).toSorted()).toEqual(known.toSorted())
})

test('a killed rotation continues; then only the new key is needed, and every value is unchanged', async () => {
  const projectId = await addProject()
  for (const [index, keys] of [[older], [old, older], [], [current]].entries()) {
    for (let count = 0; count < 6; count++) await seed(projectId, keys, index)
    await seedWebhook(projectId, keys)
  }
  const before = await openAll(rotated)
  const environment = {
    ...process.env,
    DATABASE_URL: database.url,
    BODY_ENCRYPTION_KEYS: rotated.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(','),
  }
  const script = join(import.meta.dirname, '..', 'scripts', 'keys.ts')
  const child = spawn(process.execPath, [script, 'rotate-bodies', '--pause-ms', '600000'], {
    env: environment,
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const left = () =>
    bodyKeyStatus(
      pool,
      rotated.map(({ id }) => id),
    )
  const halfWay = await left()
  expect(halfWay.find(({ keyId }) => keyId === 'k1')?.values).toBeGreaterThan(0)

  const resealer = createResealer(rotated)
  if (resealer === undefined) throw new Error('there are keys')
  const onUnopened = jest.fn()
  const done = await rotateBodies({
    pool,
    resealer,
    onBatch: () => undefined,
    onUnopened,
    batchRows: 4,
    batchBytes: 300,
  })
  expect(onUnopened).not.toHaveBeenCalled()
  expect(done.resealed).toBeGreaterThan(0)
  expect(await openAll([current])).toEqual(before)
  const values = Object.fromEntries((await left()).map((status) => [String(status.keyId), status.values]))
  expect(values).toEqual({ k3: before.length, k2: 0, k1: 0 })
  expect(await rotateBodies({ pool, resealer, onBatch: () => undefined, onUnopened })).toEqual({
    resealed: 0,
    unopened: 0,
  })
})

test('values that no key opens are counted and left unchanged', async () => {
  const projectId = await addProject()
  const id = await seed(projectId, [key('lost')], 0)
  const resealer = createResealer(rotated)
  if (resealer === undefined) throw new Error('there are keys')
  const reasons: string[] = []
  const onUnopened = (_table: string, reason: string) => reasons.push(reason)
  const done = await rotateBodies({ pool, resealer, onBatch: () => undefined, onUnopened })
  expect(done).toEqual({ resealed: 0, unopened: 4 })
  expect(reasons[0]).toContain('no key "lost"')
  const { rows } = await pool.query('select request_key_id from llm_request_bodies where request_id = $1', [
    idToUuid(id),
  ])
  expect(rows).toEqual([{ request_key_id: 'lost' }])
  await pool.query('delete from llm_requests where id = $1', [idToUuid(id)])
})

test('a day that retention drops meanwhile is skipped, and later ones are rotated', async () => {
  const projectId = await addProject()
  const seeded = [await seed(projectId, [old], 30), await seed(projectId, [old], 29)]
  await seedWebhook(projectId, [old])
  const resealer = createResealer(rotated)
  if (resealer === undefined) throw new Error('there are keys')
  const [gone = '', next = ''] = seeded.map((id) => dayOf(idTimeMs(id)).replaceAll('-', ''))
  const tables = ['llm_request_bodies', 'request_previews', 'safety_score_details']
  const dropped: string[] = []
  async function onBatch(table: string): Promise<void> {
    const parent = tables.find((name) => table === `${name}_${gone}`)
    if (parent === undefined || dropped.includes(parent)) return
    dropped.push(parent)
    // The table that it is reading, and the next one.
    const together = parent === 'llm_request_bodies' ? ['search_signatures', parent] : [parent]
    const days = together.flatMap((name) => [`${name}_${gone}`, `${name}_${next}`])
    await pool.query(`drop table ${days.join(', ')}`)
  }
  const done = await rotateBodies({ pool, resealer, onBatch, onUnopened: () => undefined })
  expect(dropped).toEqual(tables)
  // From the day's first batch the request's body, the preview and the details; then the event, its
  // delivery, two secrets and the key of value hashes.
  expect(done).toEqual({ resealed: 8, unopened: 0 })
})

test('an old key is needed while Postgres has its values, then until topics have expired them', async () => {
  const ids = rotated.map(({ id }) => id)
  const dayMs = 86_400_000
  await pool.query('truncate body_keys')
  await noteBodyKeys(pool, ['k2', 'k1'], new Date(Date.now() - 40 * dayMs))
  await noteBodyKeys(pool, ids, new Date(Date.now() - 2 * dayMs))
  // Noting it again keeps the time at which it was first retired.
  await noteBodyKeys(pool, ids, new Date())
  const why = async (): Promise<Record<string, string | undefined>> =>
    Object.fromEntries(
      (await bodyKeyStatus(pool, ids)).map((status) => [String(status.keyId), whyNeeded(status, new Date())]),
    )
  expect(await why()).toEqual({
    k3: 'it encrypts',
    k2: expect.stringContaining('topics may hold'),
    k1: undefined,
  })
  const projectId = await addProject()
  await seed(projectId, [older], 0)
  expect((await why())['k1']).toContain('values in Postgres')
})
