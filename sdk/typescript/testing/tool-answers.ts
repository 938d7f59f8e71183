import { crc32 } from 'node:zlib'
import { events, json, lines, said, type Answer } from './answers.ts'

/**
 * Answers to requests that offer tools: words, a call of `look_up`, and counts with cached tokens, in each
 * protocol. Each counts 20 uncached input tokens and 9 of output; of these, 4 of reasoning at OpenAI.
 */
const name = 'look_up'
const argumentsText = '{"x":1}'
const input = { x: 1 }

function chat(streamed: boolean): Answer {
  const common = { id: 'c1', created: 1_790_000_000, model: 'gpt-5-mini-2025-08-07' }
  const usage = {
    prompt_tokens: 30,
    completion_tokens: 9,
    total_tokens: 39,
    prompt_tokens_details: { cached_tokens: 10 },
    completion_tokens_details: { reasoning_tokens: 4 },
  }
  const call = (text: string) => ({ id: 't1', type: 'function', function: { name, arguments: text } })
  if (!streamed) {
    const message = { role: 'assistant', content: said, tool_calls: [call(argumentsText)] }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    return json({ ...common, object: 'chat.completion', choices, usage })
  }
  const chunk = (choices: object[], fields = {}) => ({
    ...common,
    object: 'chat.completion.chunk',
    choices,
    ...fields,
  })
  const delta = (fields: object) => chunk([{ index: 0, delta: fields, finish_reason: null }])
  return events(
    delta({ role: 'assistant', content: 'Hello' }),
    delta({ content: ' there' }),
    delta({ tool_calls: [{ index: 0, ...call('{"x"') }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
    chunk([{ index: 0, delta: {}, finish_reason: 'tool_calls' }]),
    chunk([], { usage }),
    '[DONE]',
  )
}

/** Without `calls` only words, for requests that offer no tools. */
export function responses(streamed: boolean, calls = true): Answer {
  const part = { type: 'output_text', text: said, annotations: [] }
  const message = { id: 'm1', type: 'message', role: 'assistant', status: 'completed', content: [part] }
  const call = {
    id: 'f1',
    type: 'function_call',
    call_id: 't1',
    name,
    arguments: argumentsText,
    status: 'completed',
  }
  const response = { id: 'r1', object: 'response', created_at: 1_790_000_000, model: 'gpt-5-mini-2025-08-07' }
  const completed = {
    ...response,
    status: 'completed',
    output: calls ? [message, call] : [message],
    usage: {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 10 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 39,
    },
  }
  if (!streamed) return json(completed)
  const words = { item_id: 'm1', output_index: 0, content_index: 0 }
  const ofCall = { item_id: 'f1', output_index: 1 }
  const called = [
    { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
    { type: 'response.function_call_arguments.delta', ...ofCall, delta: argumentsText },
    { type: 'response.function_call_arguments.done', ...ofCall, arguments: argumentsText },
    { type: 'response.output_item.done', output_index: 1, item: call },
  ]
  return events(
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
    { type: 'response.content_part.added', ...words, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...words, delta: 'Hello' },
    { type: 'response.output_text.delta', ...words, delta: ' there' },
    { type: 'response.output_text.done', ...words, text: said },
    { type: 'response.output_item.done', output_index: 0, item: message },
    ...(calls ? called : []),
    { type: 'response.completed', response: completed },
  )
}

function messages(streamed: boolean): Answer {
  const message = {
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    stop_sequence: null,
  }
  const usage = { input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 9 }
  const call = { type: 'tool_use', id: 't1', name }
  if (!streamed) {
    const content = [
      { type: 'text', text: said },
      { ...call, input },
    ]
    return json({ ...message, content, stop_reason: 'tool_use', usage })
  }
  const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields })
  return events(
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    delta(0, { type: 'text_delta', text: 'Hello' }),
    delta(0, { type: 'text_delta', text: ' there' }),
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { ...call, input: {} } },
    delta(1, { type: 'input_json_delta', partial_json: argumentsText }),
    { type: 'content_block_stop', index: 1 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  )
}

export function ollama(streamed: boolean, calls = true): Answer {
  const common = { model: 'llama3.2', created_at: '2026-11-29T10:00:00.000Z' }
  const counts = { done: true, done_reason: 'stop', prompt_eval_count: 20, eval_count: 9 }
  const tools = calls ? { tool_calls: [{ function: { name, arguments: input } }] } : {}
  const message = (content: string, more = {}) => ({ message: { role: 'assistant', content, ...more } })
  if (!streamed) return json({ ...common, ...message(said, tools), ...counts })
  return lines(
    'application/x-ndjson',
    { ...common, ...message('Hello'), done: false },
    { ...common, ...message(' there'), done: false },
    { ...common, ...message('', tools), done: false },
    { ...common, ...message(''), ...counts },
  )
}

const counted = { inputTokens: 20, outputTokens: 9, totalTokens: 39, cacheReadInputTokens: 10 }

function converse(): Answer {
  const content = [{ text: said }, { toolUse: { toolUseId: 't1', name, input } }]
  const message = { role: 'assistant', content }
  return json({
    output: { message },
    stopReason: 'tool_use',
    usage: counted,
    metrics: { latencyMs: 1 },
  })
}

function converseStream(): Answer {
  return {
    type: 'application/vnd.amazon.eventstream',
    chunks: [
      framed('messageStart', { role: 'assistant' }),
      framed('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }),
      framed('contentBlockDelta', { contentBlockIndex: 0, delta: { text: ' there' } }),
      framed('contentBlockStop', { contentBlockIndex: 0 }),
      framed('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't1', name } } }),
      framed('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: argumentsText } } }),
      framed('contentBlockStop', { contentBlockIndex: 1 }),
      framed('messageStop', { stopReason: 'tool_use' }),
      framed('metadata', { usage: counted, metrics: { latencyMs: 1 } }),
    ],
  }
}

/** An event of an `application/vnd.amazon.eventstream`, with its checksums. */
function framed(event: string, payload: object): Buffer {
  const header = (key: string, value: string) =>
    Buffer.concat([
      Buffer.from([key.length]),
      Buffer.from(key),
      Buffer.from([7, 0, value.length]),
      Buffer.from(value),
    ])
  const headers = Buffer.concat([header(':event-type', event), header(':message-type', 'event')])
  const body = Buffer.from(JSON.stringify(payload))
  const frame = Buffer.alloc(12 + headers.length + body.length + 4)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(headers.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  headers.copy(frame, 12)
  body.copy(frame, 12 + headers.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

export const toolAnswers: readonly (readonly [string, (streamed: boolean) => Answer])[] = [
  ['/chat/completions', chat],
  ['/responses', responses],
  ['/messages', messages],
  ['/api/chat', ollama],
  ['/converse', converse],
  ['/converse-stream', converseStream],
]
