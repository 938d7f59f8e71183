import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { until } from '#tests/support/until.ts'
import { createFindWebhooksOfProject } from './find-webhooks-of-project.ts'

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

async function addProject(): Promise<string> {
  const id = newId('project')
  await pool.query("insert into projects (id, name, created_at) values ($1, 'one', now())", [idToUuid(id)])
  return id
}

async function addWebhook(projectId: string, url: string): Promise<string> {
  const id = newId('webhook')
  await pool.query(
    `insert into webhooks (id, project_id, url, events, filters, secret_codec, secret_data, created_at, updated_at)
     values ($1, $2, $3, '{threat_detected}', '{"severity":["high"]}', 'none', 'one', now(), now())`,
    [idToUuid(id), idToUuid(projectId), url],
  )
  return id
}

const change = (id: string, what: string) =>
  pool.query(`update webhooks set ${what} where id = $1`, [idToUuid(id)])

test('the webhooks of a project are those of that moment: changed, added and deleted ones', async () => {
  const [projectId, other, none] = [await addProject(), await addProject(), await addProject()]
  const one = await addWebhook(projectId, 'https://one.example')
  await addWebhook(other, 'https://other.example')
  const find = createFindWebhooksOfProject(pool)
  const urlsOf = async (id: string) => (await find(id)).map(({ url }) => url).toSorted()
  // Gathered into one statement, the same one twice in it.
  expect(await Promise.all([projectId, other, none, projectId].map(urlsOf))).toEqual([
    ['https://one.example'],
    ['https://other.example'],
    [],
    ['https://one.example'],
  ])
  await change(one, "url = 'https://two.example', enabled = false")
  expect(await urlsOf(projectId)).toEqual(['https://two.example'])
  await addWebhook(projectId, 'https://three.example')
  await addWebhook(none, 'https://new.example')
  expect(await Promise.all([projectId, none, other].map(urlsOf))).toEqual([
    ['https://three.example', 'https://two.example'],
    ['https://new.example'],
    ['https://other.example'],
  ])
  await pool.query('delete from webhooks where id = $1', [idToUuid(one)])
  expect(await urlsOf(projectId)).toEqual(['https://three.example'])
  await pool.query('delete from webhooks where project_id = $1', [idToUuid(projectId)])
  expect(await urlsOf(projectId)).toEqual([])
  expect(await urlsOf(projectId)).toEqual([])
})

test('one that has not changed is the same object', async () => {
  const projectId = await addProject()
  await addWebhook(projectId, 'https://one.example')
  const find = createFindWebhooksOfProject(pool)
  const [first] = await find(projectId)
  expect(first).toBeDefined()
  expect((await find(projectId))[0]).toBe(first)
})

test('the secret of before a rotation is gone when its overlap ends, though nobody touches the webhook', async () => {
  const projectId = await addProject()
  const id = await addWebhook(projectId, 'https://one.example')
  const find = createFindWebhooksOfProject(pool)
  const previous = "previous_secret_codec = 'none', previous_secret_data = 'two'"
  await change(id, `${previous}, previous_secret_until = now() + interval '1 hour'`)
  expect((await find(projectId))[0]?.previousSecret).toMatchObject({ data: Buffer.from('two') })
  await change(id, "previous_secret_until = clock_timestamp() + interval '200 milliseconds'")
  await until(async () => (await find(projectId))[0]?.previousSecret === null)
})

test('what is not kept is read again', async () => {
  const projects = [await addProject(), await addProject()]
  const ids = [
    await addWebhook(projects[0] as string, 'https://one.example'),
    await addWebhook(projects[1] as string, 'https://two.example'),
  ]
  const find = createFindWebhooksOfProject(pool, 1)
  const found = async (id: string) => (await find(id)).map((webhook) => webhook.id)
  for (const index of [0, 1, 0, 1]) expect(await found(projects[index] as string)).toEqual([ids[index]])
  expect(await Promise.all(projects.map(found))).toEqual(ids.map((id) => [id]))
})
