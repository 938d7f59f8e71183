import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { until } from '#tests/support/until.ts'
import { createFindWebhook } from './find-webhook.ts'

let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url })
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

async function addWebhook(): Promise<string> {
  const [id, projectId] = [newId('webhook'), newId('project')]
  await pool.query("insert into projects (id, name, created_at) values ($1, 'one', now())", [
    idToUuid(projectId),
  ])
  await pool.query(
    `insert into webhooks (id, project_id, url, events, filters, secret_codec, secret_data, created_at, updated_at)
     values ($1, $2, 'https://one.example', '{threat_detected}', '{"severity":["high"]}', 'none', 'one', now(), now())`,
    [idToUuid(id), idToUuid(projectId)],
  )
  return id
}

const change = (id: string, what: string) =>
  pool.query(`update webhooks set ${what} where id = $1`, [idToUuid(id)])

test('a webhook is found as it is at that moment, however often it was found before', async () => {
  const [id, other] = [await addWebhook(), await addWebhook()]
  const find = createFindWebhook(pool)
  const first = await find(id)
  expect(first).toMatchObject({
    id,
    url: 'https://one.example',
    filters: { severity: ['high'] },
    enabled: true,
  })
  await change(id, "url = 'https://two.example', enabled = false")
  // The same one twice in a statement, beside one that is as it was and one that is not there.
  const found = await Promise.all([id, other, id, newId('webhook'), other].map(find))
  expect(found.map((webhook) => webhook?.url)).toEqual([
    'https://two.example',
    'https://one.example',
    'https://two.example',
    undefined,
    'https://one.example',
  ])
  await pool.query('delete from webhooks where id = $1', [idToUuid(id)])
  expect(await find(id)).toBeUndefined()
})

test('the secret of before a rotation is gone when its overlap ends, though nobody touches the webhook', async () => {
  const id = await addWebhook()
  const find = createFindWebhook(pool)
  await change(
    id,
    "previous_secret_codec = 'none', previous_secret_data = 'two', previous_secret_until = now() + interval '1 hour'",
  )
  expect((await find(id))?.previousSecret).toMatchObject({ data: Buffer.from('two') })
  await change(id, "previous_secret_until = clock_timestamp() + interval '200 milliseconds'")
  await until(async () => (await find(id))?.previousSecret === null)
})

test('what is not kept is read again', async () => {
  const ids = [await addWebhook(), await addWebhook()]
  const find = createFindWebhook(pool, 1)
  for (const id of [...ids, ...ids]) expect(await find(id)).toMatchObject({ id })
  expect((await Promise.all(ids.map(find))).map((webhook) => webhook?.id)).toEqual(ids)
})
