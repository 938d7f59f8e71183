import { chat, json, sse, stream, user, type Conversation } from './conversation.ts'

const image = 'data:image/png;base64,iVBORw0KGgo='
const common = { id: 'c1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'model-1' }
const delta = (fields: object, finish: string | null = null) => ({
  ...common,
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
const call = (index: number, fields: object) => delta({ tool_calls: [{ index, ...fields }] })
const counted = {
  prompt_tokens: 30,
  completion_tokens: 12,
  total_tokens: 42,
  prompt_tokens_details: { cached_tokens: 20 },
  completion_tokens_details: { reasoning_tokens: 5 },
}

/** Chats and completions: tools, streams, images, errors, cache, reasoning. */
export const chatConversations: readonly Conversation[] = [
  {
    name: 'a chat with digits that a double loses',
    ...chat,
    request: '{"model": "m", "seed": 12345678901234567890, "messages": [{"role": "user", "content": "Hi"}]}',
    ...json,
    chunks: [
      '{"id": "c1", "object": "chat.completion", "n": 98765432109876543210, "choices": []',
      ', "model": "model-1"}',
    ],
  },
  {
    name: 'a streamed chat with usage, cache and reasoning',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...stream,
    chunks: sse(
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'Hm' }),
      delta({ content: 'Hello ' }),
      delta({ content: 'Zoë \u{1f30a}' }),
      delta({}, 'stop'),
      { ...common, choices: [], usage: counted },
      '[DONE]',
    ),
  },
  {
    name: 'a streamed chat with parallel tool calls',
    ...chat,
    request: { model: 'm', messages: user, stream: true, tools: [{ type: 'function' }] },
    ...stream,
    chunks: sse(
      call(0, { id: 'a', type: 'function', function: { name: 'look_up', arguments: '' } }),
      call(0, { function: { arguments: '{"city":' } }),
      call(1, { id: 'b', type: 'function', function: { name: 'send', arguments: '{}' } }),
      call(0, { function: { arguments: '"Oslo"}' } }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ),
  },
  {
    name: 'tool calls of a host that gives each chunk another identifier',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...stream,
    chunks: sse(
      call(0, { id: 'a1', function: { name: 'f', arguments: '{"x"' } }),
      call(0, { id: 'a2', function: { name: 'f', arguments: ':1}' } }),
      delta({}, 'tool_calls'),
    ),
  },
  {
    name: 'an image in a chat',
    ...chat,
    request: {
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: image } }] }],
    },
    ...json,
    chunks: [
      JSON.stringify({ id: 'c', object: 'chat.completion', model: 'model-1', choices: [], usage: counted }),
    ],
  },
  {
    name: 'an error',
    ...chat,
    request: { model: 'm', messages: user },
    contentType: 'application/json',
    status: 429,
    chunks: ['{"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit"}}'],
  },
  {
    name: 'an error of vLLM, in a list',
    ...chat,
    request: { model: 'm' },
    contentType: 'application/json',
    status: 422,
    chunks: ['{"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}'],
  },
  {
    name: 'an error in mid-stream',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...stream,
    chunks: sse(delta({ content: 'Hel' }), { error: { message: 'The server is overloaded' } }),
  },
  {
    name: 'a stream that ends in the middle of an event',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...stream,
    chunks: [...sse(delta({ content: 'Hel' }), delta({ content: 'lo' })), 'data: {"id": "c1", "obj'],
  },
  {
    name: 'a filtered chat',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...stream,
    chunks: sse(
      {
        id: '',
        object: '',
        created: 0,
        model: '',
        choices: [],
        prompt_filter_results: [{ prompt_index: 0 }],
      },
      delta({ content: 'A' }, 'content_filter'),
      {
        ...common,
        choices: [{ index: 0, finish_reason: null, content_filter_results: { hate: { severity: 'high' } } }],
      },
      {
        ...common,
        choices: [{ index: 0, finish_reason: null, content_filter_results: { hate: { severity: 'low' } } }],
      },
      '[DONE]',
    ),
  },
  {
    name: 'a completion, streamed',
    path: '/v1/completions',
    request: { model: 'm', prompt: 'Once', stream: true },
    ...stream,
    chunks: sse(
      { id: 'x', object: 'text_completion', choices: [{ index: 0, text: ' upon', finish_reason: null }] },
      { id: 'x', object: 'text_completion', choices: [{ index: 0, text: ' a time', finish_reason: 'stop' }] },
      '[DONE]',
    ),
  },
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    request: { model: 'm', input: ['Hi'] },
    ...json,
    chunks: ['{"object": "list", "data": [{"embedding": [0.1, -1e-7]}], "usage": {"prompt_tokens": 1}}'],
  },
]
