import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { rethrow } from '../testing/rethrow.ts'
import { buildRecord } from './build-record.ts'
import { CapturedCall } from './captured-call.ts'
import { createCaptureBudget } from './capture-budget.ts'

const eventStream = 'text/event-stream'
const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

/** The record of a call with that answer. `budgetBytes`: the memory budget of both bodies. */
async function recordOf(
  answer: string,
  contentType: string,
  maxBytes: number,
  {
    status = 200,
    budgetBytes = 1_000_000,
    contentEncoding = '',
    path = '/v1/x',
    request = '{"model":"asked"}',
    labels = {},
    headers = {},
  } = {},
) {
  const captured = new CapturedCall(createCaptureBudget(budgetBytes), maxBytes)
  captured.answers({ contentType, contentEncoding })
  captured.request.add(Buffer.from(request))
  const sent = contentEncoding === '' ? Buffer.from(answer) : gzipSync(answer)
  for (let at = 0; at < sent.length; at += 1_500) captured.answered(sent.subarray(at, at + 1_500), at + 1)
  const call = {
    id: 'req_1',
    caller: { projectId: undefined, isEphemeral: false },
    path,
    upstream: { hostname: 'provider.test', provider: undefined },
    labels,
    headers,
    request: captured.request.bytes(),
    requestEncoding: '',
    answer: { ...captured.answer.bytes(), contentType, contentEncoding },
    status,
    latencyMs: 1,
    arrivals: captured.arrivals,
    abortedBy: null,
    error: null,
  }
  const record = await buildRecord(call, maxBytes, rethrow)
  return JSON.parse(record.toString()) as Record<string, unknown> & { response_body: Record<string, unknown> }
}

describe('of an answer that is too long to be kept', () => {
  const message = { id: 'm', type: 'message', model: 'claude', content: [] }
  const started = (usage: object) => ({ type: 'message_start', message: { ...message, usage } })
  const said = (text: string) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  })
  const over = (usage: object) => [{ type: 'message_delta', delta: {}, usage }, { type: 'message_stop' }]
  const messages = sse(
    started({
      input_tokens: 5,
      service_tier: 'batch',
      inference_geo: 'us',
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 4,
      cache_creation: { ephemeral_1h_input_tokens: 1 },
      output_tokens: 1,
    }),
    ...Array.from({ length: 100 }, () => said('x'.repeat(50))),
    ...over({ output_tokens: 7, input_tokens: null, server_tool_use: { web_search_requests: 2 } }),
  )

  const usage = { prompt_tokens: 8, total_tokens: 8, cost: 0.5 }
  const embeddings = JSON.stringify({ object: 'list', data: Array(3_000).fill(0), usage })

  // The cost is unknown, as the advice is billed apart.
  const advice = { type: 'advisor_message', model: 'claude-opus', input_tokens: 823, output_tokens: 1612 }
  const advised = (more: object) => {
    const iterations = [{ type: 'message', input_tokens: 9, output_tokens: 7 }, advice]
    return JSON.stringify({
      ...message,
      content: [{ type: 'text', text: 'x'.repeat(5_000) }],
      usage: { input_tokens: 9, output_tokens: 7, iterations, ...more },
    })
  }

  test.each<[string, string, string, object, object]>([
    [
      'none of an answer for which another model was asked',
      advised({}),
      'application/json',
      {},
      { prompt_tokens: null, completion_tokens: null, cached_tokens: null, reasoning_tokens: null },
    ],
    [
      'of one that says what it cost with that',
      advised({ cost: 0.5 }),
      'application/json',
      {},
      { prompt_tokens: 9, completion_tokens: 7, cost_usd: 0.5 },
    ],
    [
      'embeddings, compressed',
      embeddings,
      'application/json',
      { contentEncoding: 'gzip' },
      { prompt_tokens: 8 },
    ],
    [
      'embeddings, too long when compressed as well',
      JSON.stringify({ object: 'list', data: randomBytes(12_000).toString('base64'), usage }),
      'application/json',
      { contentEncoding: 'gzip' },
      { prompt_tokens: 8 },
    ],
    [
      'embeddings',
      embeddings,
      'application/json',
      {},
      { model: 'asked', prompt_tokens: 8, completion_tokens: null, cost_usd: 0.5 },
    ],
    [
      'an answer that speaks of usage, broken off',
      `{"content":"${'x'.repeat(5_000)} \\"usage\\": {\\"prompt_tokens\\":1}","usage":{"prompt_`,
      'application/json',
      {},
      { prompt_tokens: null },
    ],
    [
      'a stream',
      messages,
      eventStream,
      {},
      {
        ...{ prompt_tokens: 9, cache_write_tokens: 4, cache_write_1h_tokens: 1, completion_tokens: 7 },
        ...{ service_tier: 'batch', inference_geo: 'us', billed_parts: { web_search: 2 } },
      },
    ],
    [
      'audio that was heard',
      JSON.stringify({
        ...{ object: 'chat.completion', content: 'x'.repeat(5_000) },
        usage: { prompt_tokens: 9, prompt_tokens_details: { audio_tokens: 4 } },
      }),
      'application/json',
      {},
      { prompt_tokens: 9, billed_parts: { audio_input: 4 } },
    ],
    [
      'a stream for which there was no room',
      messages,
      eventStream,
      { budgetBytes: 3_500 },
      { model: 'claude', prompt_tokens: 9, cached_tokens: 5, completion_tokens: 7 },
    ],
  ])('the tokens are known: %s', async (_name, answer, contentType, options, expected) => {
    expect(await recordOf(answer, contentType, 4_000, options)).toMatchObject({
      ...expected,
      response_body: { truncated: true },
    })
  })
})

test.each([
  ['/v1beta/models/gemini-x:generateContent', '{"contents":[]}', '{"candidates":[]}', 'gemini-x'],
  [
    '/v1beta/models/gemini-x:generateContent',
    '{}',
    '{"candidates":[],"modelVersion":"gemini-x-001"}',
    undefined,
  ],
  ['/model/us.amazon.nova-v1%3A0/converse?a=b', '{"messages":[]}', '{}', 'us.amazon.nova-v1:0'],
  ['/openai/deployments/my%20own/embeddings', '{"input":"x"}', '{}', 'my own'],
  ['/model/%zz/invoke', '{}', '{}', '%zz'],
  ['/model/m/invoke', '{"model":"asked"}', '{}', undefined],
])('%s of %s answered %s names its model: %s', async (path, request, answer, model) => {
  const record = await recordOf(answer, 'application/json', 10_000, { path, request })
  expect(record['model']).toBe(model)
})

test('a status that HTTP does not have stands as an error', async () => {
  expect(await recordOf('{}', 'application/json', 4_000, { status: 799 })).toMatchObject({
    status_code: null,
    error: 'the provider answered with status 799',
  })
})

describe('a stream that is nested deeper than ingest takes it', () => {
  test.each([250, 20_000])('is text in the arguments of a tool: %d levels', async (levels) => {
    const start = { type: 'message_start', message: { type: 'message' } }
    const block = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', name: 'f' } }
    const delta = { type: 'input_json_delta', partial_json: nested(levels) }
    const stream = sse(start, block, { type: 'content_block_delta', index: 0, delta })
    const { response_body: body } = await recordOf(stream, eventStream, 100_000)
    expect(body).toMatchObject({ content: [{ input: nested(levels) }] })
  })

  test('is text elsewhere, with its tokens', async () => {
    const part = `{"functionCall":{"name":"f","args":{"a":${nested(250)}}}}`
    const stream = `data: {"candidates":[{"content":{"parts":[${part}]}}],"usageMetadata":{"promptTokenCount":4}}\n\n`
    expect(await recordOf(stream, eventStream, 100_000)).toMatchObject({
      prompt_tokens: 4,
      response_body: { encoding: 'utf8', raw: expect.stringContaining(part) as unknown },
    })
  })

  test('stands as its events beyond the depth that can be written', async () => {
    const delta = `{"content":"hi","x":${nested(100_000)}}`
    const stream = `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":${delta}}]}\n\n`
    const { response_body: body } = await recordOf(stream, eventStream, 500_000)
    expect(body['raw']).toBe(stream)
  })
})

test.each([
  ['a list', 400, '[{"error":{"code":400,"message":"API key not valid"}}]', 'API key not valid'],
  ['details', 422, '{"detail":[{"loc":["body","messages"],"msg":"Field required"}]}', 'Field required'],
  ['no failure', 200, '{"detail":"high"}', null],
])('an error that the provider puts in %s is the error of the call', async (_name, status, answer, error) => {
  expect(await recordOf(answer, 'application/json', 1_000, { status })).toMatchObject({ error })
})

describe('the first token', () => {
  const begun = {
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta: { content: '' } }],
  }
  const word = { ...begun, choices: [{ index: 0, delta: { content: 'Hi' } }] }
  const comments = ': PROCESSING\n\n'.repeat(250)

  test.each<[string, string, object, number | null]>([
    ['comes with the first chunk that has it', sse(word), {}, 1],
    ['comes with a later one', `${comments}${sse(begun, word)}`, {}, 3_001],
    ['also receives a stream that is too long', sse(begun, ...Array<object>(1_000).fill(word)), {}, 1],
    ['is not known of a stream without one', sse(begun), {}, null],
    ['is not known of one that is compressed', `${comments}${sse(word)}`, { contentEncoding: 'gzip' }, null],
    ['is not known of an answer that is no stream', '{"choices":[]}', {}, null],
  ])('%s', async (_name, answer, options, expected) => {
    const record = await recordOf(answer, eventStream, 10_000, options)
    expect(record['time_to_first_token_ms']).toBe(expected)
  })
})

describe('a coding agent', () => {
  const headers = {
    'user-agent': 'claude-cli/2.1.197 (external, cli)',
    'x-claude-code-session-id': 'of-agent',
  }
  const user = JSON.stringify({ device_id: 'device', account_uuid: '', session_id: 'of-agent' })
  const request = JSON.stringify({ model: 'claude-opus-4-8', metadata: { user_id: user } })

  test('labels its call', async () => {
    const record = await recordOf('{}', 'application/json', 10_000, { headers, request })
    expect(record).toMatchObject({ agent_name: 'claude-code', session_id: 'of-agent', user_id: 'device' })
  })

  test('has no say where the application declares a label', async () => {
    const labels = { session_id: 'declared', user_id: 'someone' }
    const record = await recordOf('{}', 'application/json', 10_000, { headers, request, labels })
    expect(record).toMatchObject({ agent_name: 'claude-code', ...labels })
  })
})
