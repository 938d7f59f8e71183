import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { createWebhook } from '../support/create-webhook.ts'
import { testInfrastructure } from '../support/infrastructure.ts'
import { readLog } from '../support/read-log.ts'
import { sized, startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'
import { startGateway, proxyKey, type RunningGateway } from '../support/start-gateway.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

jest.setTimeout(300_000)

/** Planted in every call; found by detectors in the words around each. */
const planted = {
  card: '4111 1111 1111 1111',
  mail: 'jane.roe@canary-acme.org',
  secret: 'ghp_0123456789abcdefghijABCDEFGHIJ456789',
  iban: 'DE89370400440532013000',
}
const said = `My card is ${planted.card}, IBAN ${planted.iban}. Write to ${planted.mail}.`
const toolArguments = JSON.stringify({ to: planted.mail, token: planted.secret })
const answered = `data: ${JSON.stringify({ choices: [{ delta: { content: `I charge ${planted.card.slice(0, 9)}` } }] })}

data: ${JSON.stringify({ choices: [{ delta: { content: `${planted.card.slice(9)}, and tell ${planted.mail.slice(0, 6)}` } }] })}

data: ${JSON.stringify({ choices: [{ delta: { content: `${planted.mail.slice(6)}.` }, finish_reason: 'stop' }] })}

data: [DONE]

`

let receiver: WebhookReceiver
let upstream: RawUpstream
let stack: Stack
let client: pg.Client
const directories: string[] = []
const gateways: RunningGateway[] = []

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  upstream = await startRawUpstream()
  upstream.answer(sized('200 OK', ['Content-Type: text/event-stream'], answered))
  // Nothing is encrypted: what is stored can be searched.
  stack = await startStack({
    upstreamUrl: upstream.url,
    insecureWebhookHosts: '127.0.0.1',
    environment: { BODY_ENCRYPTION_KEYS: '', LOG_LEVEL: 'debug' },
  })
  client = new pg.Client({ connectionString: stack.databaseUrl })
  await client.connect()
})
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop()
  await client.end()
  await stack.stop()
  await upstream.stop()
  await receiver.close()
  for (const directory of directories) await rm(directory, { recursive: true })
})

async function request(method: string, path: string, body: object, headers: Record<string, string>) {
  const answer = await fetch(stack.apiUrl + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

/** A gateway whose spool keeps what it is sent until `API_BACKEND_URL` takes it. */
async function gatewayFor(apiKey: string, environment: Record<string, string>): Promise<RunningGateway> {
  const spool = await mkdtemp(join(tmpdir(), 'sluice-canary-'))
  directories.push(spool)
  const { brokers, registryUrl } = testInfrastructure()
  const gateway = await startGateway({
    UPSTREAM_URL: upstream.url,
    API_BACKEND_URL: stack.apiUrl,
    SERVICE_API_KEY: apiKey,
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    TOPIC_PREFIX: stack.topicPrefix,
    SPOOL_DIR: spool,
    ...environment,
  })
  gateways.push(gateway)
  return gateway
}

const chat = {
  model: 'gpt-4o',
  stream: true,
  messages: [
    { role: 'user', content: said },
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'mail', arguments: toolArguments } }],
    },
    { role: 'tool', tool_call_id: 'c', content: JSON.stringify({ sent: [planted.mail] }) },
  ],
}

async function callThrough(gateway: RunningGateway): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(chat),
    headers: { authorization: `Bearer ${proxyKey}`, 'content-type': 'application/json' },
  })
  expect(await answer.text()).toBe(answered)
  expect(upstream.requests.at(-1)?.body.toString()).toBe(JSON.stringify(chat))
  return answer.headers.get('x-service-request-id') ?? ''
}

const span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name: 'chat gpt-4o',
  startTimeUnixNano: `${Date.now()}000000`,
  endTimeUnixNano: `${Date.now() + 5}000000`,
  attributes: Object.entries({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: said }] }]),
    'gen_ai.output.messages': JSON.stringify([
      {
        role: 'assistant',
        parts: [{ type: 'text', content: `Sent to ${planted.mail}` }],
        finish_reason: 'stop',
      },
    ]),
  }).map(([key, stringValue]) => ({ key, value: { stringValue } })),
}

/** Bytes as text, with what is compressed in them opened: bodies are from 128 bytes on. */
function opened(bytes: Buffer): string {
  let text = bytes.toString('latin1')
  for (let at = bytes.indexOf(zstdMagic); at !== -1; at = bytes.indexOf(zstdMagic, at + 1))
    text += zstdDecompressSync(bytes.subarray(at)).toString('latin1')
  return text
}
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** Everything in tables and topics, by where it is. */
async function readAll(): Promise<Map<string, string>> {
  const all = new Map<string, string>()
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`)
    // Columns of bytes are written in hexadecimal.
    const texts = rows.flatMap(({ row }) => [
      row,
      ...Array.from(row.matchAll(/\\x([0-9a-f]+)/g), ([, hex = '']) => opened(Buffer.from(hex, 'hex'))),
    ])
    all.set(`table ${name}`, texts.join('\n'))
  }
  const log = createLog('test', 'silent')
  const kafka = createKafka({ KAFKA_BROKERS: testInfrastructure().brokers }, { clientId: 'test', log })
  const topics = await withAdmin(kafka, (admin) => admin.listTopics())
  for (const topic of topics.filter((name) => name.startsWith(stack.topicPrefix))) {
    const texts = (await readLog(kafka, topic)).map(
      ({ key, value, headers }) => `${key} ${opened(value ?? Buffer.alloc(0))} ${JSON.stringify(headers)}`,
    )
    all.set(`topic ${topic.slice(stack.topicPrefix.length)}`, texts.join('\n'))
  }
  return all
}

const holding = (all: ReadonlyMap<string, string>, words: string) =>
  [...all].filter(([, text]) => text.includes(words)).map(([where]) => where)

const asked = { request_body: { messages: chat.messages }, response_body: { content: said }, error: said }

test('planted values are in no table, topic, file, log or webhook of a project that masks, and its calls are unsafe', async () => {
  const project = await stack.createProject()
  const operator = { authorization: `Bearer ${stack.operatorSecret}` }
  await request('PATCH', `/api/projects/${project.projectId}`, { mask: true }, operator)
  receiver.trust(await createWebhook({ ...stack, apiKey: project.apiKey }, receiver.url))
  const key = { 'x-service-key': project.apiKey }

  const away = await gatewayFor(project.apiKey, { API_BACKEND_URL: 'http://127.0.0.1:9' })
  await callThrough(away)
  const unencrypted = await gatewayFor(project.apiKey, { SPOOL_KEY: '' })
  const dropped = await callThrough(unencrypted)
  const ids = [
    await callThrough(await gatewayFor(project.apiKey, {})),
    await callThrough(await gatewayFor(project.apiKey, { GATEWAY_DELIVERY: 'kafka' })),
  ]
  const logged = (await (await request('POST', '/internal/log', asked, key)).json()) as { id: string }
  await request('POST', '/internal/log/batch', { records: [asked, { ...asked, masked: [] }] }, key)
  const resourceSpans = [{ scopeSpans: [{ spans: [span] }] }]
  await request('POST', '/v1/traces', { resourceSpans }, key)

  const told = () =>
    receiver.deliveries.filter(({ envelope }) => envelope['project_id'] === project.projectId)
  const toldIds = () =>
    new Set(
      told()
        .filter(({ envelope: { data } }) => data['scorer_name'] === 'pii_detection')
        .map(({ envelope: { data } }) => String(data['request_id'])),
    )
  await until(() => toldIds().size === ids.length + 4)
  expect([...toldIds()]).toEqual(expect.arrayContaining([...ids, logged.id]))

  // The same of a project that does not mask shows that the search works.
  const open = await stack.createProject()
  const other = planted.mail.replace('jane', 'john')
  const plain = {
    request_body: { messages: [{ role: 'user', content: `Write to ${other}. ${'x'.repeat(200)}` }] },
  }
  await request('POST', '/internal/log', plain, { 'x-service-key': open.apiKey })
  const read = async (id: string) => {
    const answer = await fetch(`${stack.apiUrl}/api/requests/${id}`, { headers: key })
    return (await answer.json()) as { verdict?: string; request_body?: unknown }
  }
  await until(async () => (await read(dropped)).verdict === 'not_read')
  await until(async () => holding(await readAll(), other).includes('table llm_request_bodies'))
  const all = await readAll()
  expect(holding(all, other)).toEqual(
    expect.arrayContaining([
      'table llm_request_bodies',
      'topic llm.request.logged',
      'topic safety_score_jobs',
    ]),
  )
  const files = await Promise.all(directories.map(async (path) => [path, await readFolder(path)] as const))
  const logs = await Promise.all(
    Object.values(stack.processes).map(async ({ name, output }) => [`log ${name}`, await output()] as const),
  )
  const bodies = told().map(({ body, id }) => [`webhook ${id}`, body.toString()] as const)
  const everywhere = new Map([...all, ...files, ...logs, ...bodies])
  for (const value of Object.values(planted)) expect([value, holding(everywhere, value)]).toEqual([value, []])

  expect(JSON.stringify((await read(ids[0] ?? '')).request_body)).toMatch(/\[PAYMENT_CARD:[a-f]{20}\]/)
  expect((await read(dropped)).request_body).toMatchObject({ not_masked: 'no_spool_key' })
  const tags = ids.map(async (id) => /CARD:\w+/.exec(JSON.stringify(await read(id)))?.[0])
  expect(new Set(await Promise.all(tags)).size).toBe(1)
})

async function readFolder(path: string): Promise<string> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')))
  return texts.join('\n')
}
