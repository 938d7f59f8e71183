/** An exchange with a provider, as it passes over the wire. */
export interface Conversation {
  name: string
  path: string
  request: object | string
  status: number
  contentType: string
  chunks: readonly string[]
  /** The connection breaks after the last chunk. */
  isBroken?: boolean
}

const user = [{ role: 'user', content: 'Hi, Zoë \u{1f30a}' }]
const image = 'data:image/png;base64,iVBORw0KGgo='
const sse = (...chunks: (object | string)[]) =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)
const named = (...chunks: { type: string }[]) =>
  chunks.map((chunk) => `event: ${chunk.type}\ndata: ${JSON.stringify(chunk)}\n\n`)

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
const chatStream = { contentType: 'text/event-stream; charset=utf-8', status: 200 }
const json = { contentType: 'application/json', status: 200 }
const chat = { path: '/v1/chat/completions' }
const messages = { path: '/v1/messages' }
const responses = { path: '/v1/responses' }
const message = { id: 'm1', type: 'message', role: 'assistant', model: 'model-2', stop_sequence: null }
const item = { id: 'i1', type: 'message', role: 'assistant', status: 'completed' }
const answer = { id: 'r1', object: 'response', model: 'model-3', status: 'in_progress', output: [] }

/** Tools, streams, images, errors, cache, reasoning, and what no parser knows. */
export const conversations: readonly Conversation[] = [
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
    ...chatStream,
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
    ...chatStream,
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
    ...chatStream,
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
    chunks: [JSON.stringify({ id: 'c', object: 'chat.completion', model: 'model-1', choices: [], usage: counted })],
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
    ...chatStream,
    chunks: sse(delta({ content: 'Hel' }), { error: { message: 'The server is overloaded' } }),
  },
  {
    name: 'a stream that ends in the middle of an event',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...chatStream,
    chunks: [...sse(delta({ content: 'Hel' }), delta({ content: 'lo' })), 'data: {"id": "c1", "obj'],
  },
  {
    name: 'a filtered chat',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...chatStream,
    chunks: sse(
      { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
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
    ...chatStream,
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
  {
    name: 'a message with thoughts, a tool and cache counts, streamed',
    ...messages,
    request: { model: 'm', max_tokens: 9, messages: user, stream: true },
    ...chatStream,
    chunks: named(
      {
        type: 'message_start',
        ...{ message: { ...message, content: [], usage: { input_tokens: 3, output_tokens: 1 } } },
      },
      { type: 'content_block_start', ...{ index: 0, content_block: { type: 'thinking', thinking: '' } } },
      { type: 'content_block_delta', ...{ index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } } },
      { type: 'content_block_delta', ...{ index: 0, delta: { type: 'signature_delta', signature: 's' } } },
      { type: 'content_block_start', ...{ index: 1, content_block: { type: 'text', text: '' } } },
      { type: 'ping' },
      { type: 'content_block_delta', ...{ index: 1, delta: { type: 'text_delta', text: 'Hello' } } },
      {
        type: 'content_block_start',
        ...{ index: 2, content_block: { type: 'tool_use', id: 't', name: 'f', input: {} } },
      },
      { type: 'content_block_delta', ...{ index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":' } } },
      { type: 'content_block_delta', ...{ index: 2, delta: { type: 'input_json_delta', partial_json: '1}' } } },
      {
        type: 'message_delta',
        ...{ delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9, cache_read_input_tokens: 20 } },
      },
      { type: 'message_stop' },
    ),
  },
  {
    name: 'a message that is overloaded in mid-stream',
    ...messages,
    request: { model: 'm', max_tokens: 9, messages: user, stream: true },
    ...chatStream,
    chunks: named(
      { type: 'message_start', ...{ message: { ...message, content: [], usage: { input_tokens: 3 } } } },
      { type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } },
      { type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text: 'Hel' } } },
      { type: 'error', ...{ error: { type: 'overloaded_error', message: 'Overloaded' } } },
    ),
  },
  {
    name: 'a response, streamed',
    ...responses,
    request: { model: 'm', input: 'Hi', stream: true },
    ...chatStream,
    chunks: named(
      { type: 'response.created', ...{ response: answer } },
      { type: 'response.output_item.added', ...{ output_index: 0, item: { ...item, content: [] } } },
      { type: 'response.output_text.delta', ...{ output_index: 0, content_index: 0, delta: 'Hello' } },
      {
        type: 'response.completed',
        ...{
          response: {
            ...answer,
            status: 'completed',
            output: [{ ...item, content: [{ type: 'output_text', text: 'Hello' }] }],
            usage: { input_tokens: 3, output_tokens: 2 },
          },
        },
      },
    ),
  },
  {
    name: 'a response that breaks off, with reasoning and a tool call',
    ...responses,
    request: { model: 'm', input: 'Hi', stream: true },
    ...chatStream,
    chunks: named(
      { type: 'response.created', ...{ response: answer } },
      { type: 'response.reasoning_summary_text.delta', ...{ output_index: 0, summary_index: 0, delta: 'Hm' } },
      { type: 'response.function_call_arguments.delta', ...{ output_index: 1, delta: '{"a":' } },
      { type: 'response.function_call_arguments.done', ...{ output_index: 1, arguments: '{"a":1}' } },
    ),
  },
  {
    name: 'candidates, streamed',
    path: '/v1beta/models/model-4:streamGenerateContent?alt=sse',
    request: { contents: [{ parts: [{ text: 'Hi' }] }] },
    ...chatStream,
    chunks: sse(
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Hm', thought: true }] }, index: 0 }] },
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] }, index: 0 }] },
      {
        candidates: [{ content: { parts: [{ text: 'lo' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 1 },
        modelVersion: 'model-4-001',
      },
    ),
  },
  {
    name: 'candidates as a JSON list',
    path: '/v1beta/models/model-4:streamGenerateContent',
    request: { contents: [{ parts: [{ text: 'Hi' }] }] },
    ...json,
    chunks: ['[{"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}', '\n]'],
  },
  {
    name: "Cohere's chat, streamed",
    path: '/v2/chat',
    request: { model: 'm', messages: user, stream: true },
    ...chatStream,
    chunks: sse(
      { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hello' } } } },
      { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 2 } } } },
    ),
  },
  {
    name: "Cohere's first chat, streamed",
    path: '/v1/chat',
    request: { message: 'Hi', stream: true },
    contentType: 'application/stream+json',
    status: 200,
    chunks: [
      '{"event_type": "text-generation", "text": "Hello"}\n',
      '{"event_type": "stream-end", "response": {"text": "Hello", "generation_id": "g"}}\n',
    ],
  },
  {
    name: 'Ollama behind a chat path, in JSON lines',
    ...chat,
    request: { model: 'm', messages: user },
    contentType: 'application/x-ndjson',
    status: 200,
    chunks: [
      '{"model": "m", "message": {"role": "assistant", "content": "He"}, "done": false}\n',
      '{"model": "m", "message": {"role": "assistant", "content": "y"}, "done": true, "eval_count": 2}\n',
    ],
  },
  {
    name: 'an unknown stream',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...chatStream,
    chunks: sse({ token: { text: 'Hel' } }, { token: { text: 'lo' } }),
  },
  {
    name: 'a page of a proxy',
    ...chat,
    request: { model: 'm', messages: user },
    contentType: 'text/html',
    status: 502,
    chunks: ['<html>Bad Gateway</html>'],
  },
  {
    name: 'an empty answer',
    ...chat,
    request: { model: 'm', messages: user },
    contentType: 'application/json',
    status: 200,
    chunks: [],
  },
]
