import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { testInfrastructure } from '../support/infrastructure.ts'
import { createWebhook } from '../support/create-webhook.ts'
import { readLog } from '../support/read-log.ts'
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

jest.setTimeout(300_000)

let provider: MockProvider
let receiver: WebhookReceiver
let stack: Stack
let client: pg.Client

beforeAll(async () => {
  provider = await startMockProvider()
  receiver = await startWebhookReceiver()
  // Neither encrypted nor compressed (too short): the searched text would be visible.
  stack = await startStack({
    upstreamUrl: provider.url,
    insecureWebhookHosts: '127.0.0.1',
    environment: { BODY_ENCRYPTION_KEYS: '' },
  })
  client = new pg.Client({ connectionString: stack.databaseUrl })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await stack.stop()
  await receiver.close()
  await provider.stop()
})

async function request(
  method: string,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<Response> {
  const answer = await fetch(stack.apiUrl + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

/** Logs a chat and a tool call that quote `words`, both unsafe. Waits until they are scored and delivered. */
async function logCalls(
  words: string,
  { projectId, apiKey }: { projectId: string; apiKey: string },
): Promise<void> {
  receiver.trust(await createWebhook({ ...stack, apiKey }, receiver.url))
  const content = `${words}: my card is 4111 1111 1111 1111.`
  const bodies = [
    {
      request_body: { messages: [{ role: 'user', content }] },
      response_body: { choices: [{ message: { content: words } }] },
    },
    {
      request_body: { type: 'mcp_tool_call', tool_name: 'shell', arguments: { command: `rm -rf /${words}` } },
      response_body: { o: words },
      error: `ToolError: cannot do ${words}`,
    },
  ]
  for (const body of bodies)
    await request('POST', '/internal/log', { ...body, user_id: 'u1' }, { 'x-service-key': apiKey })
  await receiver.waitFor((all) => new Set(requestsTold(all, projectId)).size === bodies.length)
}

const requestsTold = (deliveries: WebhookReceiver['deliveries'], projectId: string) =>
  deliveries
    .filter(({ envelope }) => envelope['project_id'] === projectId)
    .map(({ envelope: { data } }) => String(data['request_id']))

/** Tables with `words` anywhere in a row, as text or as bytes. */
async function tablesWith(words: string): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  expect(tables.length).toBeGreaterThan(20)
  const found: string[] = []
  for (const { name } of tables) {
    const { rowCount } = await client.query(
      `select from ${name} t where position($1 in t::text) > 0 or position($2 in t::text) > 0 limit 1`,
      [words, Buffer.from(words).toString('hex')],
    )
    if (rowCount !== 0) found.push(name)
  }
  return found
}

/** Topics with `words` in a record's key, value or headers, read up to their current end. */
async function topicsWith(words: readonly string[]): Promise<Record<string, string[]>> {
  const log = createLog('test', 'silent')
  const kafka = createKafka({ KAFKA_BROKERS: testInfrastructure().brokers }, { clientId: 'test', log })
  const all = await withAdmin(kafka, (admin) => admin.listTopics())
  const topics = all.filter((topic) => topic.startsWith(stack.topicPrefix)).toSorted()
  const found = words.map((word): [string, string[]] => [word, []])
  for (const topic of topics) {
    const records = await readLog(kafka, topic)
    const texts = records.flatMap(({ key, value, headers }) =>
      [key, value, ...Object.values(headers)].map(String),
    )
    for (const [word, where] of found)
      if (texts.some((text) => text.includes(word))) where.push(topic.slice(stack.topicPrefix.length))
  }
  return Object.fromEntries(found)
}

test('with zero content retention, content is in no table and only in ephemeral topics', async () => {
  const secretive = await stack.createProject()
  await request(
    'PATCH',
    `/api/projects/${secretive.projectId}`,
    { zero_content_retention: true },
    {
      authorization: `Bearer ${stack.operatorSecret}`,
    },
  )
  const [kept, unkept] = ['KEPT-a1b2', 'UNKEPT-c3d4']
  await logCalls(kept, await stack.createProject())
  await logCalls(unkept, secretive)

  // Shows that the search works.
  expect(await tablesWith(kept)).toEqual(
    expect.arrayContaining(['event_outbox', 'llm_request_bodies', 'webhook_deliveries']),
  )
  const topics = await topicsWith([kept, unkept])
  expect(topics[kept]).toEqual(
    expect.arrayContaining([
      'event.raised',
      'llm.request.logged',
      'safety.score.recorded',
      'safety_score_jobs',
    ]),
  )

  expect(await tablesWith(unkept)).toEqual([])
  expect(topics[unkept]).toEqual(['llm.request.ephemeral', 'safety_score_jobs.ephemeral'])
  const told = receiver.deliveries.filter(({ envelope }) => envelope['project_id'] === secretive.projectId)
  expect(told.length).toBeGreaterThanOrEqual(2)
  expect(told.some(({ body }) => body.includes(unkept))).toBe(false)
})

test('scripts/erase erases a user: no table has any of their content', async () => {
  const project = await stack.createProject()
  const words = 'ERASE-e5f6'
  await logCalls(words, project)
  expect((await tablesWith(words)).length).toBeGreaterThan(0)
  const script = join(import.meta.dirname, '..', '..', 'scripts', 'erase.ts')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, '--project', project.projectId, '--user', 'u1'],
    { env: { ...process.env, PUBLIC_BASE_URL: stack.apiUrl, INTERNAL_API_SECRET: stack.operatorSecret } },
  )
  expect(stdout).toMatch(/^ers_\w+ {2}user u1 {2}erased, 2 calls;/)
  expect(await tablesWith(words)).toEqual([])
})
