import { gzipSync, zstdCompressSync } from 'node:zlib'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { otlpLogs, otlpRequest, type GivenLog, type GivenSpan } from '#capture/otel/testing/otlp-request.ts'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { until } from '#tests/support/until.ts'
import { startIngest } from './testing/start-ingest.ts'

const bodyKey = Buffer.alloc(32, 7)
const sealer = createSealer([{ id: 'k1', key: bodyKey }])
/** Of messages that come by themselves, others may come for a tenth of the wait. */
const environment = { BODY_ENCRYPTION_KEYS: `k1:${bodyKey.toString('base64')}`, SPAN_WAIT_MS: '10000' }
let api: RunningApi
let databaseUrl: string

beforeAll(async () => {
  api = await startApi((url) => {
    databaseUrl = url
    return environment
  })
})
afterAll(() => api.stop())

/** Another process of ingest on the same database and topics. */
const startOther = () =>
  startIngest({ ...environment, DATABASE_URL: databaseUrl, TOPIC_PREFIX: api.topicPrefix })

const chat = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.system': 'openai',
  'gen_ai.request.model': 'gpt-4o-mini',
}
const span: GivenSpan = { spanId: '0000000000000001', attributes: chat, parentSpanId: 'a'.repeat(16) }
const agent: GivenSpan = { spanId: 'a'.repeat(16), attributes: { 'gen_ai.agent.name': 'helper' } }
const asked = { eventName: 'gen_ai.user.message', body: { content: 'Hello Zoë' } }
const answered = {
  eventName: 'gen_ai.choice',
  body: { index: 0, message: { role: 'assistant', content: 'Hi' } },
}
const words: GivenLog[] = [asked, answered]

const post = (key: string, path: string, body: unknown, baseUrl = api.baseUrl) =>
  fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'x-service-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then(async (answer) => [answer.status, await answer.json()] as const)
const sendSpans = (key: string, spans: readonly GivenSpan[] = [agent, span], baseUrl?: string) =>
  post(key, '/v1/traces', otlpRequest(spans), baseUrl)
const sendLogs = (key: string, logs: readonly GivenLog[] = words, baseUrl?: string) =>
  post(key, '/v1/logs', otlpLogs(logs), baseUrl)
const taken = [200, {}]

async function recordsOf(projectId: string) {
  const records = await api.readTopic(topics.requestLogged)
  return records
    .filter((record) => record.project_id === projectId)
    .map((record) => {
      const opened = (part: 'request_body' | 'response_body') => {
        const sealed = record[part]
        const identity = sealedIdentity(projectId, record.id, part)
        return sealed === null ? null : (JSON.parse(sealer.open(sealed, identity).toString()) as unknown)
      }
      return { ...record, request: opened('request_body'), response: opened('response_body') }
    })
}

const waitingOf = async (projectId: string) => {
  const { rows } = await api.pool.query<{ codec: string | null; data: Buffer | null }>(
    'select codec, data from waiting_calls where project_id = $1',
    [idToUuid(projectId)],
  )
  return rows
}

/** The wait is over. */
const endWait = (projectId: string) =>
  api.pool.query("update waiting_calls set due_at = now() - interval '1 second' where project_id = $1", [
    idToUuid(projectId),
  ])

async function forgotten(projectId: string): Promise<void> {
  await endWait(projectId)
  await until(async () => (await waitingOf(projectId)).length === 0)
}

async function published(projectId: string, count = 1) {
  await until(async () => (await recordsOf(projectId)).length >= count)
  return recordsOf(projectId)
}

async function counted(name: string, outcome: string): Promise<number> {
  const { values } = await api.metrics.counter(name, '', ['outcome']).get()
  return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
}
const logRecords = (outcome: string) => counted('sluice_ingest_log_records_total', outcome)

const complete = {
  agent_name: 'helper',
  request: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello Zoë' }] },
  response: { choices: [{ message: { role: 'assistant', content: 'Hi' } }] },
}
const unread = { request: { truncated: true }, response: { truncated: true } }

test.each([
  ['words then span', [sendLogs, sendSpans]],
  ['span then words', [sendSpans, sendLogs]],
] as const)('%s are one record; what waits is sealed', async (_name, [first, second]) => {
  const { projectId, key } = await api.createProject()
  expect(await first(key)).toEqual(taken)
  const [row] = await waitingOf(projectId)
  expect(row?.data?.includes('Zoë')).toBe(false)
  expect(await recordsOf(projectId)).toEqual([])
  expect(await second(key)).toEqual(taken)
  expect(await published(projectId)).toMatchObject([complete])
})

test('one process may end before the words come: the other has the span', async () => {
  const { projectId, key } = await api.createProject()
  const other = await startOther()
  try {
    expect(await sendSpans(key, [agent, span], other.baseUrl)).toEqual(taken)
  } finally {
    await other.stop()
  }
  await sendLogs(key)
  expect(await published(projectId)).toMatchObject([complete])
})

test('two processes at once, everything sent three times: each call once, and once for the quota', async () => {
  const { projectId, key } = await api.createProject({ tier: 'team' })
  const other = await startOther()
  const startMs = Date.now()
  const ids = Array.from({ length: 40 }, (_, index) => (index + 1).toString(16).padStart(16, '0'))
  const spans = ids.map((spanId) => ({ ...span, spanId, startMs }))
  const logs = ids.flatMap((spanId) => words.map((log) => ({ ...log, spanId })))
  try {
    const sent = [0, 1, 2].flatMap(() =>
      [api.baseUrl, other.baseUrl].flatMap((baseUrl) => [
        sendSpans(key, [agent, ...spans], baseUrl),
        sendLogs(key, logs, baseUrl),
      ]),
    )
    for (const answer of await Promise.all(sent)) expect(answer).toEqual(taken)
    const records = await published(projectId, ids.length)
    expect(new Set(records.map(({ id }) => id)).size).toBe(ids.length)
    for (const record of records) expect(record).toMatchObject(complete)
    // Again, after they were published.
    expect(await sendSpans(key, [agent, ...spans])).toEqual(taken)
    await forgotten(projectId)
    expect(await recordsOf(projectId)).toHaveLength(ids.length)
  } finally {
    await other.stop()
  }
  const { rows } = await api.pool.query<{ used: string }>(
    'select requests_this_period as used from subscriptions where project_id = $1',
    [idToUuid(projectId)],
  )
  expect(Number(rows[0]?.used)).toBe(ids.length)
})

test('after the wait a span is published as not read; words that come later or alone are dropped', async () => {
  const [{ projectId, key }, alone] = [await api.createProject(), await api.createProject()]
  const [late, spanless] = [
    await logRecords('late'),
    await counted('sluice_ingest_waiting_calls_total', 'without_span'),
  ]
  await Promise.all([sendSpans(key), sendLogs(alone.key)])
  await Promise.all([endWait(projectId), forgotten(alone.projectId)])
  expect(await published(projectId)).toMatchObject([unread])
  await until(async () => (await waitingOf(projectId)).every(({ codec }) => codec === null))
  expect(await sendLogs(key)).toEqual(taken)
  expect(await logRecords('late')).toBe(late + words.length)
  await forgotten(projectId)
  expect(await counted('sluice_ingest_waiting_calls_total', 'without_span')).toBe(spanless + 1)
  expect([await recordsOf(alone.projectId), (await recordsOf(projectId)).length]).toEqual([[], 1])
})

test("another project's words join nothing", async () => {
  const [ours, theirs] = [await api.createProject(), await api.createProject()]
  await sendSpans(ours.key)
  await sendLogs(theirs.key, [
    asked,
    { ...answered, body: { message: { role: 'assistant', content: 'Stolen' } } },
  ])
  await Promise.all([endWait(ours.projectId), endWait(theirs.projectId)])
  expect(await published(ours.projectId)).toMatchObject([unread])
  expect(await recordsOf(theirs.projectId)).toEqual([])
})

test('beyond the bound spans are published at once, and words are 429 with Retry-After', async () => {
  const { projectId, key } = await api.createProject()
  await api.pool.query(
    `insert into waiting_calls (project_id, id, codec, data, bytes, has_span, since, due_at)
     values ($1, $1, 'none', '{}', 32 * 1024 * 1024, true, now(), now() + interval '1 day')`,
    [idToUuid(projectId)],
  )
  expect(await sendSpans(key)).toEqual(taken)
  expect(await recordsOf(projectId)).toMatchObject([unread])
  const answer = await api.call('POST', '/v1/logs', { key, body: otlpLogs(words) })
  expect([answer.status, answer.json['code'], answer.headers.get('retry-after')]).toEqual([
    429,
    'WAITING_CALLS_FULL',
    '10',
  ])
})

test('with zero content retention nothing waits, and words are not kept', async () => {
  const { projectId, key } = await api.createProject({ zero_content_retention: true })
  const notKept = await logRecords('not_kept')
  expect(await sendLogs(key)).toEqual(taken)
  expect(await sendSpans(key)).toEqual(taken)
  expect([(await recordsOf(projectId)).length, await waitingOf(projectId)]).toEqual([1, []])
  expect(await logRecords('not_kept')).toBe(notKept + words.length)
})

test('protobuf, also compressed, and the other path', async () => {
  const { projectId, key } = await api.createProject()
  const text = (tag: number, value: string) => new BinaryWriter().uint32(tag).string(value).finish()
  const wrap = (tag: number, ...parts: Uint8Array[]) =>
    new BinaryWriter().uint32(tag).bytes(Buffer.concat(parts)).finish()
  const record = (name: string, spanId: string, content: string) =>
    wrap(
      18,
      new BinaryWriter().uint32(89).fixed64(`${Date.now()}000000`).finish(),
      wrap(42, text(10, content)),
      wrap(74, Buffer.from('0af7651916cd43dd8448eb211c80319c', 'hex')),
      wrap(82, Buffer.from(spanId, 'hex')),
      text(98, name),
    )
  const spanId = '0000000000000002'
  const logs = (...records: Uint8Array[]) => Buffer.from(wrap(10, wrap(18, ...records)))
  for (const [coding, name, body] of [
    ['zstd', 'gen_ai.user.message', zstdCompressSync],
    ['gzip', 'gen_ai.choice', gzipSync],
  ] as const) {
    const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': coding }
    const sent = { key, headers, body: body(logs(record(name, spanId, 'Hi'), record('other', spanId, 'x'))) }
    const answer = await api.call('POST', '/api/public/otel/v1/logs', sent)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-protobuf'])
  }
  await sendSpans(key, [{ ...span, spanId }])
  expect(await published(projectId)).toMatchObject([
    { request: { messages: [{ content: 'Hi' }] }, response: complete.response },
  ])
})
