import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { newId } from '#schemas/ids.ts'
import { apiConfigSchema } from '#services/api/config.ts'
import { createApi } from '#services/api/service.ts'
import {
  setSinkFixture,
  startSink,
  type RunningSink,
  type SinkFixture,
} from '#services/sink/testing/sink-fixture.ts'
import { operatorSecret } from '#tests/support/start-api.ts'
import { until } from '#tests/support/until.ts'

/**
 * Records that break careless pipelines, through ingest, Kafka, the sink and Postgres, and back through the
 * API.
 */
let fixture: SinkFixture
let sink: RunningSink
let api: ReturnType<typeof createApi>
let projectId: string

beforeAll(async () => {
  fixture = await setSinkFixture()
  projectId = await fixture.addProject()
  const parsed = parseConfig(apiConfigSchema, {
    ...fixture.environment,
    INTERNAL_API_SECRET: operatorSecret,
    API_HOST: '127.0.0.1',
    API_PORT: '0',
    DRAIN_LEAD_MS: '0',
  })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const log = createLog('test', 'silent')
  api = createApi(parsed.value, { log, metrics: createMetrics(), clock: systemClock })
  await api.start()
  sink = await startSink(fixture)
}, 300_000)

afterAll(async () => {
  await sink.service.stop()
  await api.stop()
  await fixture.close()
})

const call = async (method: string, path: string, body?: string | Buffer<ArrayBuffer>) => {
  const response = await fetch(`http://127.0.0.1:${api.port()}${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorSecret}` },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}
const log = (members: string, id = newId('request')) =>
  call('POST', '/internal/log', `{"id":"${id}","project_id":"${projectId}",${members}}`)

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const body = (json: string) => `"request_body":${json}`

const taken: [string, string][] = [
  [
    'integers and exponents beyond a double',
    '{"n":123456789012345678901234567890,"e":1e400,"z":-0.0,"f":0.1000}',
  ],
  [
    'members that reach for prototypes',
    '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"toString":null}',
  ],
  ['lone surrogates', '{"messages":[{"role":"user","content":"\\ud800 and \\udfff"}]}'],
  ['NUL characters', '{"model":"gpt\\u0000-4","messages":[{"role":"user","content":"a\\u0000b"}]}'],
  ['a thousand NUL characters', `{"t":"${'\\u0000'.repeat(1_000)}"}`],
  ['repeated members', '{"a":1,"a":2,"model":"x","model":"y"}'],
  ['200 levels', deep(200)],
  ['spaces and escapes as they were', '{ "a" : "\\u0041\\/" ,\n\t"b":[ ] }'],
  ['direction marks, line separators and four-byte characters', '{"t":"\u202e\u2028\u{1f600}\ufeff"}'],
  [
    'what looks like an answer',
    '{"type":"message","usage":{"input_tokens":1e308,"output_tokens":-5},"content":"x"}',
  ],
  [
    'more tokens than there are',
    '{"usage":{"prompt_tokens":9007199254740991,"completion_tokens":4503599627370496}}',
  ],
  [
    'a tool with a hostile name',
    '{"type":"mcp_tool_call","tool_name":"\'; drop table \\ud83d\\ude00","arguments":{"\\u0000":1}}',
  ],
]

test('accepted records come back from the API unchanged, and none becomes a dead letter', async () => {
  const sent = new Map<string, string>()
  for (const [name, json] of taken) {
    const id = newId('request')
    const answer = await log(`${body(json)},"response_body":${json}`, id)
    expect([name, answer.status]).toEqual([name, 202])
    sent.set(id, json)
  }
  const extreme = newId('request')
  const numbers =
    '"latency_ms":1e12,"time_to_first_token_ms":5e-324,"cost_usd":1e12,"prompt_tokens":1125899906842624'
  expect(
    (await log(`${body('{}')},${numbers},"metadata":{"__proto__":"x","":"empty"}`, extreme)).status,
  ).toBe(202)
  sent.set(extreme, '{}')
  for (const [id, json] of sent) {
    await until(async () => (await call('GET', `/api/requests/${id}`)).status === 200)
    const { text } = await call('GET', `/api/requests/${id}`)
    // Compares bytes, not parsed values.
    expect([id, text.includes(`"request_body":${json}`)]).toEqual([id, true])
  }
  const { text } = await call('GET', `/api/requests/${extreme}`)
  expect(text).toContain('"prompt_tokens":1125899906842624')
  expect(text).toContain('"metadata":{"":"empty","__proto__":"x"}')
  const dead = await fixture.pool.query('select code, message from dead_letters')
  expect(dead.rows).toEqual([])
  expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
}, 300_000)

test.each([
  ['deeper than 200 levels', body(deep(201)), 422, 'request_body'],
  ['metadata of 9 levels', `${body('{}')},"metadata":${deep(9)}`, 422, 'metadata'],
  ['metadata of 100,000 levels', `${body('{}')},"metadata":${deep(100_000)}`, 422, 'metadata'],
  ['an agent with a NUL character', `${body('{}')},"agent_name":"a\\u0000b"`, 422, 'agent_name'],
  ['a session with a lone surrogate', `${body('{}')},"session_id":"\\ud800"`, 422, 'session_id'],
  ['metadata with a NUL character', `${body('{}')},"metadata":{"a":"\\u0000"}`, 422, 'metadata'],
  [
    'metadata with an integer beyond 2^53',
    `${body('{}')},"metadata":{"a":9007199254740993}`,
    422,
    'metadata',
  ],
  [
    'a count beyond what Avro keeps exactly',
    `${body('{}')},"prompt_tokens":9007199254740991`,
    422,
    'prompt_tokens',
  ],
  ['a count beyond 2^53', `${body('{}')},"prompt_tokens":1e300`, 422, 'prompt_tokens'],
  ['a cost that is no number', `${body('{}')},"cost_usd":1e400`, 422, 'cost_usd'],
  ['a cost beyond belief', `${body('{}')},"cost_usd":1.7e308`, 422, 'cost_usd'],
  ['a negative latency', `${body('{}')},"latency_ms":-1`, 422, 'latency_ms'],
  ['a body that is a list', body('[]'), 422, 'request_body'],
  ['no JSON', '"request_body":{', 400, 'JSON'],
])('%s is refused and named', async (_name, members, status, named) => {
  const answer = await log(members)
  expect([answer.status, answer.text.includes(named)]).toEqual([status, true])
})

test('bytes that are not UTF-8 are refused', async () => {
  const bytes = Buffer.concat([
    Buffer.from(`{"project_id":"${projectId}","request_body":{"t":"`),
    Buffer.from([0xff, 0xc0]),
    Buffer.from('"}}'),
  ])
  const answer = await call('POST', '/internal/log', bytes)
  expect([answer.status, answer.text.includes('NOT_UTF8')]).toEqual([400, true])
})
