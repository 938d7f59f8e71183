import { chatConversations } from './chat-conversations.ts'
import { chat, json, named, sse, stream, user, type Conversation } from './conversation.ts'

const messages = { path: '/v1/messages' }
const responses = { path: '/v1/responses' }
const message = { id: 'm1', type: 'message', role: 'assistant', model: 'model-2', stop_sequence: null }
const item = { id: 'i1', type: 'message', role: 'assistant', status: 'completed' }
const answer = { id: 'r1', object: 'response', model: 'model-3', status: 'in_progress', output: [] }

/** Every protocol, and what no parser knows. */
export const conversations: readonly Conversation[] = [
  ...chatConversations,
  {
    name: 'a message with thoughts, a tool and cache counts, streamed',
    ...messages,
    request: { model: 'm', max_tokens: 9, messages: user, stream: true },
    ...stream,
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
      {
        type: 'content_block_delta',
        ...{ index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":' } },
      },
      {
        type: 'content_block_delta',
        ...{ index: 2, delta: { type: 'input_json_delta', partial_json: '1}' } },
      },
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
    ...stream,
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
    ...stream,
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
    ...stream,
    chunks: named(
      { type: 'response.created', ...{ response: answer } },
      {
        type: 'response.reasoning_summary_text.delta',
        ...{ output_index: 0, summary_index: 0, delta: 'Hm' },
      },
      { type: 'response.function_call_arguments.delta', ...{ output_index: 1, delta: '{"a":' } },
      { type: 'response.function_call_arguments.done', ...{ output_index: 1, arguments: '{"a":1}' } },
    ),
  },
  {
    name: 'candidates, streamed',
    path: '/v1beta/models/model-4:streamGenerateContent?alt=sse',
    request: { contents: [{ parts: [{ text: 'Hi' }] }] },
    ...stream,
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
    name: 'candidates of a version that cannot be stored',
    path: '/v1beta/models/model-4:generateContent',
    request: { contents: [{ parts: [{ text: 'Hi' }] }] },
    ...json,
    chunks: [JSON.stringify({ candidates: [], modelVersion: 'model-4\u0000' })],
  },
  {
    name: "Cohere's chat, streamed",
    path: '/v2/chat',
    request: { model: 'm', messages: user, stream: true },
    ...stream,
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
    name: "Ollama's own chat with a tool",
    path: '/api/chat',
    request: { model: 'm', messages: user },
    contentType: 'application/x-ndjson',
    status: 200,
    chunks: [
      '{"model": "m", "message": {"role": "assistant", "content": "Hey"}, "done": false}\n',
      '{"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, "done": false}\n',
      '{"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "prompt_eval_count": 3, "eval_count": 2}\n',
    ],
  },
  {
    name: 'an unknown stream',
    ...chat,
    request: { model: 'm', messages: user, stream: true },
    ...stream,
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
