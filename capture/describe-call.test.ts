import { describe, expect, test } from '@jest/globals'
import { describeCall } from './describe-call.ts'

const chatAnswer = (usage: object) => ({
  object: 'chat.completion',
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage,
})

describe('model and provider', () => {
  test.each<[string, unknown, unknown, string | null, string | null]>([
    ["the answer's model wins", { model: 'gpt-4o-mini' }, chatAnswer({}), 'gpt-4o-mini-2024-07-18', 'openai'],
    [
      "the request's when nothing was answered",
      { model: 'o3-mini', messages: [] },
      null,
      'o3-mini',
      'openai',
    ],
    ['a host prefix', { model: 'anthropic/claude-sonnet-4' }, null, 'anthropic/claude-sonnet-4', 'anthropic'],
    [
      'a Bedrock identifier',
      { modelId: 'us.anthropic.claude-3' },
      null,
      'us.anthropic.claude-3',
      'anthropic',
    ],
    ...['amazon.nova-lite-v1:0', 'apac.amazon.nova-pro-v1:0'].map(
      (model): [string, unknown, unknown, string, string] => [
        'a Bedrock identifier of another maker',
        { modelId: model },
        null,
        model,
        'amazon',
      ],
    ),
    ['a Bedrock identifier', { modelId: 'us.meta.llama4' }, null, 'us.meta.llama4', 'meta'],
    [
      'Bedrock by its shape, no matter who made the model',
      { modelId: 'amazon.nova-lite-v1:0', messages: [] },
      { output: { message: { role: 'assistant', content: [] } } },
      'amazon.nova-lite-v1:0',
      'bedrock',
    ],
    [
      'a model that only begins like one of Google',
      { modelId: 'writer.palmyra-x5-v1:0' },
      null,
      'writer.palmyra-x5-v1:0',
      null,
    ],
    ['Gemini by its shape', { contents: [] }, { candidates: [], modelVersion: 'x-1' }, 'x-1', 'google'],
    ...[
      ['rerank-v3.5', 'cohere'],
      ['rerank-2.5-lite', 'voyage'],
      ['voyage-3.5', 'voyage'],
      ['rerank-other', null],
    ].map(([model, maker]): [string, unknown, unknown, string | null, string | null] => [
      `a model that ranks or embeds: ${model}`,
      { model, query: 'gates', documents: ['a gate'] },
      { results: [] },
      model ?? null,
      maker ?? null,
    ]),
    ['a model nobody knows', { model: 'acme-7b', messages: [] }, {}, 'acme-7b', null],
    ['no model', { messages: [] }, {}, null, null],
    ['a model that is no text', { model: 5 }, { model: {} }, null, null],
  ])('%s', (_name, requestBody, responseBody, model, provider) => {
    expect(describeCall({ requestBody, responseBody })).toMatchObject({ model, provider })
  })
})

describe('tool calls', () => {
  test.each<[string, unknown, unknown, unknown]>([
    [
      'a tool-call record is one itself',
      { type: 'mcp_tool_call', tool_name: 'search', arguments: { q: 'x' } },
      { content: [] },
      { type: 'mcp_tool_call', toolName: 'search', toolCalls: [{ name: 'search', arguments: '{"q":"x"}' }] },
    ],
    [
      'chat',
      {},
      { choices: [{ message: { tool_calls: [{ function: { name: 'f', arguments: '{"a": 1}' } }] } }] },
      { toolName: null, toolCalls: [{ name: 'f', arguments: '{"a": 1}' }] },
    ],
    [
      'chat, in its second choice',
      {},
      {
        choices: [
          { message: {} },
          { message: { tool_calls: [{ function: { name: 'f', arguments: '{}' } }] } },
        ],
      },
      { toolCalls: [{ name: 'f', arguments: '{}' }] },
    ],
    [
      'responses',
      {},
      { object: 'response', output: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
      { toolCalls: [{ name: 'f', arguments: '{}' }] },
    ],
    [
      'messages',
      {},
      { type: 'message', content: [{ type: 'tool_use', name: 'f', input: { a: 1 } }] },
      { toolCalls: [{ name: 'f', arguments: '{"a":1}' }] },
    ],
    [
      'Gemini',
      {},
      { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: {} } }] } }] },
      { toolCalls: [{ name: 'f', arguments: '{}' }] },
    ],
    [
      'LangGraph',
      {},
      {
        messages: [
          { type: 'human', content: 'P' },
          {
            type: 'ai',
            tool_calls: [{ name: 'f', args: { a: 1 }, id: 't', type: 'tool_call' }],
            response_metadata: { model_name: 'gpt-4o-mini-2024-07-18' },
          },
        ],
      },
      { model: 'gpt-4o-mini-2024-07-18', toolCalls: [{ name: 'f', arguments: '{"a":1}' }] },
    ],
  ])('%s', (_name, requestBody, responseBody, expected) => {
    expect(describeCall({ requestBody, responseBody })).toMatchObject(expected as object)
  })

  test.each<[string, object]>([
    [
      'of a model',
      { ...chatAnswer({ prompt_tokens: 9, completion_tokens: 5, cost: 1 }), service_tier: 'flex' },
    ],
    ['that names another model', { model: 'Tesla Model 3' }],
    ['that lists messages', { messages: [{ type: 'ai', response_metadata: { model_name: 'gpt-4o' } }] }],
    [
      'that has usage',
      { usage: { iterations: [{ type: 'advisor_message', model: 'gpt-4o', input_tokens: 1 }] } },
    ],
  ])("a tool's result %s is no answer of the record's model", (_name, responseBody) => {
    const requestBody = { type: 'mcp_tool_call', tool_name: 'ask_expert', arguments: {}, model: 'claude-4' }
    expect(describeCall({ requestBody, responseBody })).toEqual(describeCall({ requestBody }))
  })

  test('arguments nested deeper than the stack do not throw', () => {
    const deep: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))
    const requestBody = { type: 'mcp_tool_call', tool_name: 'f', arguments: deep }
    expect(describeCall({ requestBody }).toolName).toBe('f')
  })
})
