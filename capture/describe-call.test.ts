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
      'Bedrock by its shape, whoever made the model',
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
    ['a model nobody knows', { model: 'acme-7b', messages: [] }, {}, 'acme-7b', null],
    ['no model', { messages: [] }, {}, null, null],
    ['a model that is no text', { model: 5 }, { model: {} }, null, null],
  ])('%s', (_name, requestBody, responseBody, model, provider) => {
    expect(describeCall({ requestBody, responseBody })).toMatchObject({ model, provider })
  })
})

describe('token buckets do not overlap', () => {
  test.each<[string, unknown, (number | null)[]]>([
    [
      'OpenAI chat counts cached and reasoning in',
      chatAnswer({
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 30 },
      }),
      [40, 60, 20, 30],
    ],
    [
      'a host that counts reasoning beside the completion',
      chatAnswer({
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 150,
        completion_tokens_details: { reasoning_tokens: 30 },
      }),
      [100, null, 20, 30],
    ],
    [
      'OpenAI responses',
      {
        object: 'response',
        usage: {
          input_tokens: 10,
          input_tokens_details: { cached_tokens: 4 },
          output_tokens: 8,
          output_tokens_details: { reasoning_tokens: 0 },
        },
      },
      [6, 4, 8, 0],
    ],
    [
      'Anthropic counts caches beside',
      {
        type: 'message',
        content: [],
        usage: {
          input_tokens: 5,
          cache_read_input_tokens: 90,
          cache_creation_input_tokens: 7,
          output_tokens: 3,
        },
      },
      [12, 90, 3, null],
    ],
    [
      'Gemini',
      {
        candidates: [],
        usageMetadata: {
          promptTokenCount: 20,
          cachedContentTokenCount: 5,
          candidatesTokenCount: 9,
          thoughtsTokenCount: 11,
        },
      },
      [15, 5, 9, 11],
    ],
    [
      'Gemini counts what tools brought in beside the prompt',
      { candidates: [], usageMetadata: { promptTokenCount: 20, toolUsePromptTokenCount: 7 } },
      [27, null, null, null],
    ],
    [
      'Anthropic counts thinking in the output',
      {
        type: 'message',
        content: [],
        usage: { input_tokens: 5, output_tokens: 30, output_tokens_details: { thinking_tokens: 20 } },
      },
      [5, null, 10, 20],
    ],
    [
      'a cache that is larger than the prompt is beside it',
      chatAnswer({ prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 90 } }),
      [10, 90, 1, null],
    ],
    [
      'a total that counts something else too says nothing of parts',
      chatAnswer({
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 170,
        prompt_tokens_details: { cached_tokens: 60 },
      }),
      [40, 60, 50, null],
    ],
    [
      'DeepSeek',
      chatAnswer({ prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 4 }),
      [6, 4, 1, null],
    ],
    [
      'Cohere: what was read goes before what is billed',
      {
        meta: {
          tokens: { input_tokens: 9, output_tokens: 8 },
          billed_units: { input_tokens: 3, output_tokens: 4 },
        },
      },
      [9, null, 8, null],
    ],
    [
      "Gemini's interactions",
      {
        usage: {
          total_input_tokens: 20,
          total_tool_use_tokens: 7,
          total_cached_tokens: 5,
          total_output_tokens: 9,
          total_thought_tokens: 11,
        },
      },
      [22, 5, 9, 11],
    ],
    ['Bedrock', { usage: { inputTokens: 3, outputTokens: 4 } }, [3, null, 4, null]],
    ['Cohere', { meta: { billed_units: { input_tokens: 3, output_tokens: 4 } } }, [3, null, 4, null]],
    ['Groq, streamed', { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 4 } } }, [3, null, 4, null]],
    ['no usage is unknown, not 0', chatAnswer({}), [null, null, null, null]],
    [
      'nonsense is unknown',
      chatAnswer({ prompt_tokens: -1, completion_tokens: '7' }),
      [null, null, null, null],
    ],
    ['no answer', undefined, [null, null, null, null]],
  ])('%s', (_name, responseBody, [promptTokens, cachedTokens, completionTokens, reasoningTokens]) => {
    const described = describeCall({ requestBody: {}, responseBody })
    expect(described).toMatchObject({ promptTokens, cachedTokens, completionTokens, reasoningTokens })
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
  ])('%s', (_name, requestBody, responseBody, expected) => {
    expect(describeCall({ requestBody, responseBody })).toMatchObject(expected as object)
  })

  test('arguments nested deeper than the stack do not throw', () => {
    const deep: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))
    const requestBody = { type: 'mcp_tool_call', tool_name: 'f', arguments: deep }
    expect(describeCall({ requestBody }).toolName).toBe('f')
  })
})
