import { expect, test } from '@jest/globals'
import { readSpans, type Span } from './read-spans.ts'
import { recordOfSpan } from './span-record.ts'
import { otlpRequest, type GivenSpan } from './testing/otlp-request.ts'
import { projectId, recordedSpan as recorded } from './testing/recorded-span.ts'

const json = JSON.stringify
const question = { role: 'user', content: 'What is a sluice?' }
const genAi = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm',
  'gen_ai.response.model': 'model-1',
}

test.each<[string, GivenSpan]>([
  [
    'GenAI',
    {
      name: 'execute_tool look_up',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'look_up',
        'gen_ai.tool.call.arguments': json({ word: 'sluice' }),
        'gen_ai.tool.call.result': json({ found: 'a gate' }),
      },
    },
  ],
  [
    'OpenInference',
    {
      attributes: {
        'openinference.span.kind': 'TOOL',
        'tool.name': 'look_up',
        'input.value': json({ word: 'sluice' }),
        'output.value': json({ found: 'a gate' }),
      },
    },
  ],
  [
    'Vercel',
    {
      attributes: {
        'ai.operationId': 'ai.toolCall',
        'ai.toolCall.name': 'look_up',
        'ai.toolCall.args': json({ word: 'sluice' }),
        'ai.toolCall.result': json({ found: 'a gate' }),
      },
    },
  ],
  [
    'MCP',
    {
      name: 'tools/call look_up',
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.call.arguments': { word: 'sluice' },
        'gen_ai.tool.call.result': { found: 'a gate' },
      },
    },
  ],
])("a tool's call of %s", (_name, span) => {
  expect(recorded(span)).toMatchObject({
    request_body: { type: 'mcp_tool_call', tool_name: 'look_up', arguments: { word: 'sluice' } },
    response_body: { found: 'a gate' },
  })
})

test.each<[string, GivenSpan]>([
  ['HTTP', { attributes: { 'http.request.method': 'POST' } }],
  ['an agent', { attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'm' } }],
  ['a chain', { attributes: { 'openinference.span.kind': 'CHAIN' } }],
  ["Vercel's outer span", { attributes: { 'ai.operationId': 'ai.generateText', 'ai.model.id': 'm' } }],
])('a span of %s is no call', (_name, span) => {
  expect(recorded(span)).toBeNull()
})

test('words that were left out are said to be missing', () => {
  expect(recorded({ attributes: genAi })).toMatchObject({
    request_body: { model: 'model-1', truncated: true },
    response_body: { model: 'model-1', truncated: true },
  })
  expect(recorded({ attributes: { 'gen_ai.operation.name': 'execute_tool' } })).toMatchObject({
    request_body: { type: 'mcp_tool_call', truncated: true },
    response_body: { truncated: true },
  })
})

test('a failed call has its error and status, and no answer', () => {
  const attributes = { ...genAi, 'gen_ai.input.messages': json([question]), 'error.type': '429' }
  expect(recorded({ attributes, status: { code: 2, message: 'too many requests' } })).toMatchObject({
    error: 'too many requests',
    status_code: 429,
    response_body: null,
  })
})

test('a span sent again is the same record, and that of another project or span is not', () => {
  const [read] = [...readSpans(otlpRequest([{ attributes: genAi, startMs: 1_790_000_000_000 }]))]
  const { span } = read as { span: Span }
  const { id } = recordOfSpan(span, projectId) ?? {}
  expect(recordOfSpan(span, projectId)?.['id']).toBe(id)
  expect(recordOfSpan(span, 'prj_00000000000000000000000001')?.['id']).not.toBe(id)
  expect(recordOfSpan({ ...span, spanId: '00000000000000ff' }, projectId)?.['id']).not.toBe(id)
})

test.each<[string, GivenSpan]>([
  ['traceId', { traceId: '0'.repeat(32) }],
  ['spanId', { spanId: 'xyz' }],
])('a span with a wrong %s is refused by name', (field, span) => {
  expect([...readSpans(otlpRequest([span]))]).toEqual([{ fault: expect.stringContaining(field) }])
})

test('hostile attributes are bounded', () => {
  const attributes = {
    ...genAi,
    'gen_ai.prompt.99999999.role': 'user',
    [`gen_ai.prompt.0${'.a'.repeat(50)}`]: 'x',
    'gen_ai.prompt.0.__proto__.polluted': 'x',
    'gen_ai.agent.name': `\0${'x'.repeat(1_000)}`,
    'gen_ai.input.messages': `[${'['.repeat(100_000)}`,
  }
  const record = recorded({ attributes })
  expect(String(record?.['agent_name'])).toHaveLength(256)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test("Langfuse's usage may be the provider's own", () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 5 },
  }
  const attributes = {
    'langfuse.observation.type': 'generation',
    'langfuse.observation.usage_details': json(usage),
    'langfuse.observation.completion_start_time': json(new Date(1_790_000_000_100).toISOString()),
  }
  expect(recorded({ attributes, startMs: 1_790_000_000_000 })).toMatchObject({
    prompt_tokens: 40,
    cached_tokens: 60,
    completion_tokens: 15,
    reasoning_tokens: 5,
    time_to_first_token_ms: 100,
  })
})
