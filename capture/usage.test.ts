import { expect, test } from '@jest/globals'
import { usageOf } from './usage.ts'

const chatAnswer = (usage: object) => ({
  object: 'chat.completion',
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage,
})

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
    "Vertex AI's embeddings, each text by itself",
    {
      predictions: [3, 8].map((count) => ({
        embeddings: { values: [1], statistics: { token_count: count } },
      })),
    },
    [11, null, null, null],
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
    // discuss.ai.google.dev/t/127400: gemini-3-flash-preview, with 94 thinking tokens billed as output.
    "Gemini in OpenAI's dialect says what was thought in the total alone",
    {
      ...chatAnswer({ prompt_tokens: 9, completion_tokens: 1, total_tokens: 104 }),
      model: 'models/gemini-3',
    },
    [9, null, 1, 94],
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
  [
    // The sum is billed: platform.claude.com/docs/en/build-with-claude/compaction-threshold.
    'Anthropic counts what it took to shorten the conversation beside all else',
    {
      type: 'message',
      content: [],
      usage: {
        input_tokens: 23,
        output_tokens: 1,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 0,
        iterations: [
          { type: 'compaction', input_tokens: 180, output_tokens: 3, cache_creation_input_tokens: 7 },
          { type: 'message', input_tokens: 23, output_tokens: 1, cache_read_input_tokens: 5 },
        ],
      },
    },
    [210, 5, 4, null],
  ],
  [
    'Anthropic, shortened on the way, without a word of caches',
    {
      usage: {
        input_tokens: 23,
        output_tokens: 1,
        iterations: [
          { type: 'compaction', input_tokens: 180, output_tokens: 3 },
          { type: 'message', input_tokens: 23, output_tokens: 1 },
        ],
      },
    },
    [203, null, 4, null],
  ],
  [
    // As in packages/moonshotai/src/convert-moonshotai-chat-usage.ts of vercel/ai.
    'Kimi',
    chatAnswer({ prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, cached_tokens: 4 }),
    [6, 4, 1, null],
  ],
  [
    'Kimi, streamed and not asked for usage: it stands in the choice',
    { choices: [{ message: {}, usage: { prompt_tokens: 3, completion_tokens: 4 } }], usage: null },
    [3, null, 4, null],
  ],
  [
    // docs.dify.ai/api-reference, POST /chat-messages.
    'Dify',
    { answer: 'A', metadata: { usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } } },
    [3, null, 4, null],
  ],
  [
    // langchain-ai.github.io/langgraphjs/reference/types/sdk.AIMessage.html: the final state includes earlier
    // runs.
    'LangGraph: each answer of the model in this run',
    {
      messages: [
        { type: 'human' },
        { type: 'ai', usage_metadata: { input_tokens: 100, output_tokens: 100 } },
        { type: 'human' },
        {
          type: 'ai',
          usage_metadata: {
            input_tokens: 10,
            output_tokens: 5,
            input_token_details: { cache_read: 4 },
            output_token_details: { reasoning: 2 },
          },
        },
        { type: 'tool' },
        { type: 'ai', usage_metadata: { input_tokens: 20, output_tokens: 3 } },
      ],
    },
    [26, 4, 6, 2],
  ],
  ['Bedrock', { usage: { inputTokens: 3, outputTokens: 4 } }, [3, null, 4, null]],
  [
    // docs.cohere.com/reference/chat: prompt tokens that hit the cache.
    "Cohere's cache",
    { usage: { tokens: { input_tokens: 100, output_tokens: 4 }, cached_tokens: 60 } },
    [40, 60, 4, null],
  ],
  ['Cohere', { meta: { billed_units: { input_tokens: 3, output_tokens: 4 } } }, [3, null, 4, null]],
  ['Groq, streamed', { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 4 } } }, [3, null, 4, null]],
  ['no usage is unknown, not 0', chatAnswer({}), [null, null, null, null]],
  [
    'nonsense is unknown',
    chatAnswer({ prompt_tokens: -1, completion_tokens: '7' }),
    [null, null, null, null],
  ],
  ['no answer', undefined, [null, null, null, null]],
])(
  'token buckets do not overlap: %s',
  (_name, responseBody, [promptTokens, cachedTokens, completionTokens, reasoningTokens]) => {
    expect(usageOf(responseBody)).toMatchObject({
      promptTokens,
      cachedTokens,
      completionTokens,
      reasoningTokens,
    })
  },
)

test('Bedrock says how much of what it wrote to a cache is kept for an hour', () => {
  // docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html
  const cacheDetails = [
    { ttl: '1h', inputTokens: 20 },
    { ttl: '5m', inputTokens: 10 },
  ]
  const usage = { inputTokens: 3, outputTokens: 4, cacheWriteInputTokens: 30, cacheDetails }
  expect(usageOf({ usage })).toMatchObject({ promptTokens: 33, writtenTokens: 30, writtenHourTokens: 20 })
})
