import { expect, test } from '@jest/globals'
import type { GivenSpan } from './testing/otlp-request.ts'
import { recordedSpan as recorded } from './testing/recorded-span.ts'

const json = JSON.stringify
const genAi = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
const openInference = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'm' }
const langfuse = { 'langfuse.observation.type': 'generation', 'langfuse.observation.model.name': 'm' }
const said = (value: object) => ({ response_body: { choices: [{ message: value }] } })

test.each<[string, GivenSpan, object]>([
  [
    'Langfuse says so by its level',
    {
      attributes: {
        ...langfuse,
        'langfuse.observation.level': 'ERROR',
        'langfuse.observation.status_message': 'Error: 429 Slow down',
        'langfuse.observation.cost_details': json({ input: 0, output: 0, total: 0 }),
      },
    },
    { error: 'Error: 429 Slow down', status_code: 429, response_body: null },
  ],
  [
    "Python's clients write the status into the error",
    { attributes: genAi, status: { code: 2, message: "BadRequestError('Error code: 400 - no')" } },
    { status_code: 400 },
  ],
  [
    'LangChain adds an answer without words',
    {
      attributes: { ...openInference, 'llm.output_messages.0.message.role': 'assistant' },
      status: { code: 2, message: 'no' },
    },
    { error: 'no', response_body: null },
  ],
])('a failed call: %s', (_name, span, expected) => {
  const record = recorded(span)
  expect(record).toMatchObject(expected)
  expect(record).not.toHaveProperty('cost_usd')
})

test('an answer of the Responses API is read, alone or in a list', () => {
  const answer = {
    object: 'response',
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'function_call', call_id: 'c', name: 'look_up', arguments: '{"x":1}' },
    ],
  }
  const call = { id: 'c', type: 'function', function: { name: 'look_up', arguments: '{"x":1}' } }
  for (const value of [answer, [answer]])
    expect(recorded({ attributes: { ...openInference, 'output.value': json(value) } })).toMatchObject(
      said({ role: 'assistant', content: 'Hello', tool_calls: [call] }),
    )
})

test('an answer of which no words are found is not read', () => {
  const attributes = { ...openInference, 'output.value': json([{ unknown: 'Hello' }]) }
  expect(recorded({ attributes })).toMatchObject({ response_body: { choices: [], truncated: true } })
})

test.each(['tool_call', 'tool-calls', 'tool_calls'])(
  '%s is why an answer with a tool call ended',
  (reason) => {
    const attributes = {
      ...genAi,
      'gen_ai.completion': json([{ role: 'assistant', content: 'x' }]),
      'gen_ai.response.finish_reasons': [reason],
    }
    expect(recorded({ attributes })).toMatchObject({
      response_body: { choices: [{ finish_reason: 'tool_calls' }] },
    })
  },
)

test.each([
  { ...openInference, 'llm.invocation_parameters': json({ temperature: 0.5, max_tokens: 9, stream: true }) },
  {
    ...langfuse,
    'langfuse.observation.model.parameters': json({
      temperature: 0.5,
      max_tokens: 9,
      stream: true,
      top_p: 'x',
    }),
  },
])('parameters in one attribute', (attributes) => {
  const { request_body: request } = recorded({ attributes }) ?? {}
  expect(request).toEqual({ model: 'm', temperature: 0.5, max_tokens: 9, stream: true, truncated: true })
})

test('tools beside the messages', () => {
  const tools = [{ type: 'function', function: { name: 'look_up' } }]
  const input = json({ messages: [{ role: 'user', content: 'Hi' }], tools })
  const attributes = { ...langfuse, 'langfuse.observation.input': input }
  expect(recorded({ attributes })).toMatchObject({ request_body: { tools } })
})

test("a tool's result in parts is its text", () => {
  const part = { type: 'tool_call_response', id: 'c', response: [{ type: 'text', text: 'A gate.' }] }
  const attributes = { ...genAi, 'gen_ai.input.messages': json([{ role: 'user', parts: [part] }]) }
  expect(recorded({ attributes })).toMatchObject({
    request_body: { messages: [{ role: 'tool', content: 'A gate.', tool_call_id: 'c' }] },
  })
})

test('the time of the first token may be an event', () => {
  const event = { name: 'First Token Stream Event', attributes: {}, afterMs: 40 }
  expect(recorded({ attributes: openInference, events: [event] })).toMatchObject({
    time_to_first_token_ms: 40,
  })
})
