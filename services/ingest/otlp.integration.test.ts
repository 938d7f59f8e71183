import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { otlpRequest, type GivenSpan } from '#capture/otel/testing/otlp-request.ts'
import { idToUuid } from '#schemas/ids.ts'
import { createSealer } from '#runtime/sealing.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { operatorSecret, startApi, type RunningApi } from '#tests/support/start-api.ts'

const key32 = Buffer.alloc(32, 7)
const sealer = createSealer([{ id: 'k1', key: key32 }])
let api: RunningApi
let project: { projectId: string; key: string }

beforeAll(async () => {
  api = await startApi({ BODY_ENCRYPTION_KEYS: `k1:${key32.toString('base64')}` })
  project = await api.createProject()
})

afterAll(() => api.stop())

const chat = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-4o-mini',
  'gen_ai.usage.input_tokens': 7,
  'gen_ai.usage.output_tokens': 3,
  'gen_ai.input.messages': JSON.stringify([
    { role: 'user', parts: [{ type: 'text', content: 'Hello Zoë' }] },
  ]),
  'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Hi' }] }]),
}

async function recordsOf(projectId: string) {
  return (await api.readTopic(topics.requestLogged)).filter((record) => record.project_id === projectId)
}

/** Spans by the real exporter, in protobuf. */
async function exported(path: string, headers: Record<string, string>, work: (tracer: Tracer) => void) {
  const exporter = new OTLPTraceExporter({ url: `${api.baseUrl}${path}`, headers })
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  work(provider.getTracer('test'))
  await provider.forceFlush()
  await provider.shutdown()
}

const send = (spans: readonly GivenSpan[], key = project.key, headers: Record<string, string> = {}) =>
  api.call('POST', '/v1/traces', {
    key,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(otlpRequest(spans)),
  })

test('spans of the real exporter become records, under the key as Bearer or as password of Basic', async () => {
  const { projectId, key } = await api.createProject()
  const basic = Buffer.from(`anybody:${key}`).toString('base64')
  const call = (tracer: Tracer) =>
    tracer.startActiveSpan('agent', { attributes: { 'session.id': 'ticket-1' } }, (agent) => {
      const span = tracer.startSpan('chat gpt-4o-mini', { attributes: chat })
      span.setStatus({ code: SpanStatusCode.OK })
      span.end()
      agent.end()
    })
  await exported('/v1/traces', { authorization: `Bearer ${key}` }, call)
  await exported('/api/public/otel/v1/traces', { authorization: `Basic ${basic}` }, call)
  const records = await recordsOf(projectId)
  expect(records).toHaveLength(2)
  for (const record of records) {
    expect(record).toMatchObject({
      source: 'otel',
      model: 'gpt-4o-mini',
      provider: 'openai',
      prompt_tokens: 7,
      completion_tokens: 3,
    })
    const body = record.request_body ?? { codec: '', key_id: null, data: Buffer.alloc(0) }
    const opened = sealer.open(body, sealedIdentity(projectId, record.id, 'request_body')).toString()
    expect(JSON.parse(opened)).toEqual({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hello Zoë' }],
    })
  }
})

test('JSON, also compressed; spans of other kinds are dropped, wrong and late ones are counted', async () => {
  const { projectId, key } = await api.createProject()
  const spans = [
    { attributes: chat },
    { attributes: { 'http.request.method': 'GET' } },
    { attributes: chat, traceId: 'no' },
    { attributes: chat, startMs: Date.now() - 30 * 86_400_000 },
  ]
  const answer = await send(spans, key)
  expect([answer.status, answer.json]).toEqual([
    200,
    { partialSuccess: { rejectedSpans: '2', errorMessage: expect.stringMatching(/traceId.*; id: /) } },
  ])
  const text = JSON.stringify(otlpRequest([{ attributes: chat, spanId: 'aaaaaaaaaaaaaaaa' }]))
  for (const [coding, body] of [
    ['gzip', gzipSync(text)],
    ['zstd', zstdCompressSync(text)],
  ] as const) {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding }
    const packed = await api.call('POST', '/v1/traces', { key, headers, body })
    expect([packed.status, packed.json]).toEqual([200, {}])
  }
  const ids = (await recordsOf(projectId)).map(({ id }) => id)
  expect(new Set(ids).size).toBe(2)
})

test('results of evaluations are no calls and counted apart; the judged calls are recorded', async () => {
  const { projectId, key } = await api.createProject()
  const result = { 'gen_ai.evaluation.name': 'Relevance', 'gen_ai.evaluation.score.value': 4 }
  const counter = api.metrics.counter('sluice_ingest_spans_total', '', ['outcome'])
  const counted = async () =>
    (await counter.get()).values.find(({ labels }) => labels.outcome === 'evaluation')?.value ?? 0
  const before = await counted()
  const spans = [
    { name: 'gen_ai.evaluation.result', attributes: { ...result, 'gen_ai.request.model': 'm' } },
    { attributes: chat, events: [{ name: 'gen_ai.evaluation.result', attributes: result }] },
    { attributes: { ...result, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'look_up' } },
  ]
  expect((await send(spans, key)).json).toEqual({})
  expect((await recordsOf(projectId)).map(({ model }) => model).sort()).toEqual(['gpt-4o-mini', 'unknown'])
  expect((await counted()) - before).toBe(2)
})

test('10,000 spans sent three times over are each one record, and count once for the quota', async () => {
  const { projectId, key } = await api.createProject({ tier: 'team' })
  const startMs = Date.now()
  const spans = Array.from({ length: 10_000 }, (_, index) => ({
    attributes: chat,
    startMs,
    spanId: (index + 1).toString(16).padStart(16, '0'),
  }))
  for (let times = 0; times < 3; times++)
    for (let at = 0; at < spans.length; at += 2_000)
      expect((await send(spans.slice(at, at + 2_000), key)).json).toEqual({})
  const ids = (await recordsOf(projectId)).map(({ id }) => id)
  expect([ids.length, new Set(ids).size]).toEqual([30_000, 10_000])
  const { rows } = await api.pool.query<{ used: string }>(
    'select requests_this_period as used from subscriptions where project_id = $1',
    [idToUuid(projectId)],
  )
  expect(rows.map(({ used }) => Number(used))).toEqual([10_000])
})

test('more than the quota is 429 with Retry-After', async () => {
  const { projectId, key } = await api.createProject({ tier: 'free' })
  const spent = 'update subscriptions set requests_this_period = 1000000 where project_id = $1'
  await api.pool.query(spent, [idToUuid(projectId)])
  const answer = await send([{ attributes: chat }], key)
  expect([answer.status, answer.json['code']]).toEqual([429, 'INGEST_QUOTA_EXCEEDED'])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
})

test.each<[string, string, string | Buffer, number, string]>([
  ['no JSON', 'application/json', '{', 400, 'NOT_JSON'],
  ['no protobuf', 'application/x-protobuf', Buffer.from([0x0a, 0xff, 0xff, 0x01]), 400, 'NOT_PROTOBUF'],
  ['deep values', 'application/x-protobuf', nested(10_000), 422, 'INVALID_INPUT'],
])('%s is refused', async (_name, type, body, status, code) => {
  const headers = { 'content-type': type }
  const answer = await api.call('POST', '/v1/traces', { key: project.key, headers, body })
  expect([answer.status, answer.json['code']]).toEqual([status, code])
})

test('nobody sends for another project: a span names none, and the operator has none', async () => {
  const other = await api.createProject()
  const named = { ...chat, project_id: other.projectId, 'sluice.project_id': other.projectId }
  expect((await send([{ attributes: named }])).status).toBe(200)
  expect(await recordsOf(other.projectId)).toEqual([])
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${operatorSecret}` }
  const asOperator = await api.call('POST', '/v1/traces', { headers, body: '{}' })
  expect(asOperator.status).toBe(422)
  expect((await api.call('POST', '/v1/traces', { body: '{}' })).status).toBe(401)
})

/** Messages of which each is the only field of the one before. */
function nested(depth: number): Buffer {
  let inner = Buffer.alloc(0)
  const wrap = (tag: number, bytes: Buffer) =>
    Buffer.concat([Buffer.from([tag]), varint(bytes.length), bytes])
  for (let level = 0; level < depth; level++) inner = wrap(level % 2 === 0 ? 0x0a : 0x2a, inner)
  // A request, a span's resource, its attribute and value.
  return wrap(0x0a, wrap(0x0a, wrap(0x0a, wrap(0x12, inner))))
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
    if (rest <= 0x7f) return Buffer.from(bytes)
  }
}
