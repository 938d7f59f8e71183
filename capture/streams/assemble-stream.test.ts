import { describe, expect, test } from '@jest/globals'
import { errorOfAnswer } from '../answer-error.ts'
import { assembleStream } from './assemble-stream.ts'
import { parseServerSentEvents } from './server-sent-events.ts'

const sse = (...chunks: (object | string)[]) =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('')
const named = (...chunks: { type: string }[]) =>
  chunks.map((chunk) => `event: ${chunk.type}\ndata: ${JSON.stringify(chunk)}\n\n`).join('')
const chat = (choices: unknown[], more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 7,
  model: 'm',
  choices,
  ...more,
})

test.each([
  ['line feeds', 'event: a\ndata: 1\n\ndata: 2\n\n'],
  ['carriage returns and line feeds', 'event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n'],
  ['no space, comments, other fields', ': hi\nevent:a\nid: 3\ndata:1\n\n:\n\ndata:2\n\n'],
  ['a last event cut off', 'event: a\ndata: 1\n\ndata: 2\n\ndata: 3\n'],
])('events with %s', (_name, text) => {
  expect(parseServerSentEvents(text)).toEqual([
    { name: 'a', data: '1' },
    { name: '', data: '2' },
  ])
})

describe('chat', () => {
  test('content, two choices, finish reasons, usage chunk', () => {
    const text = sse(
      chat([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], { usage: null }),
      chat([{ index: 1, delta: { role: 'assistant', content: 'B' }, finish_reason: null }]),
      chat([{ index: 0, delta: { content: 'A1' }, finish_reason: null }]),
      chat([{ index: 0, delta: { content: 'A2' }, finish_reason: null }]),
      chat([{ index: 0, delta: {}, finish_reason: 'stop' }]),
      chat([{ index: 1, delta: {}, finish_reason: 'length' }]),
      chat([], { usage: { prompt_tokens: 3, completion_tokens: 4 } }),
      '[DONE]',
    )
    expect(assembleStream(text)).toEqual({
      ended: true,
      body: {
        id: 'c1',
        object: 'chat.completion',
        created: 7,
        model: 'm',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'A1A2' }, finish_reason: 'stop' },
          { index: 1, message: { role: 'assistant', content: 'B' }, finish_reason: 'length' },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      },
    })
  })

  test('parallel tool calls, one of which repeats its name', () => {
    const call = (index: number, call: object) =>
      chat([{ index: 0, delta: { tool_calls: [{ index, ...call }] } }])
    const text = sse(
      call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      call(0, { function: { arguments: '{"x":' } }),
      call(1, { id: 'b', type: 'function', function: { name: 'g', arguments: '{' } }),
      call(0, { type: 'function', function: { name: 'f', arguments: '12345678901234567890}' } }),
      call(1, { function: { arguments: '}' } }),
    )
    expect(assembleStream(text)).toMatchObject({
      ended: false,
      body: {
        choices: [
          {
            message: {
              content: null,
              tool_calls: [
                {
                  id: 'a',
                  type: 'function',
                  function: { name: 'f', arguments: '{"x":12345678901234567890}' },
                },
                { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
              ],
            },
          },
        ],
      },
    })
  })

  test('parallel tool calls to which a host gives one index, and another an identifier a chunk', () => {
    const call = (id: string, name: string | null, text: string) =>
      chat([{ index: 0, delta: { tool_calls: [{ index: 0, id, function: { name, arguments: text } }] } }])
    const text = sse(call('a', 'f', '{'), call('a2', null, '}'), call('b', 'g', '['), call('', null, ']'))
    expect(assembleStream(text)).toMatchObject({
      body: {
        choices: [
          {
            message: {
              tool_calls: [
                { id: 'a', function: { name: 'f', arguments: '{}' } },
                { id: 'b', function: { name: 'g', arguments: '[]' } },
              ],
            },
          },
        ],
      },
    })
  })

  test('content that changes between text and parts', () => {
    const thinking = (text: string) => [{ type: 'thinking', thinking: [{ type: 'text', text }] }]
    const contents = ['A', thinking('h'), thinking('m'), [{ type: 'text', text: 'B' }], 'C', '']
    const text = sse(...contents.map((content) => chat([{ index: 0, delta: { content } }])))
    const content = [{ type: 'text', text: 'A' }, ...thinking('hm'), { type: 'text', text: 'BC' }]
    expect(assembleStream(text)?.body).toMatchObject({ choices: [{ message: { content } }] })
  })

  test('refusal, log probabilities, an error in mid-stream', () => {
    const logprobs = (token: string) => ({ content: [{ token }] })
    const text = sse(
      chat([{ index: 0, delta: { refusal: 'I ca' }, logprobs: logprobs('a') }]),
      chat([{ index: 0, delta: { refusal: "n't" }, logprobs: logprobs('b') }]),
      { error: { message: 'overloaded' } },
    )
    expect(assembleStream(text)).toMatchObject({
      ended: true,
      body: {
        error: { message: 'overloaded' },
        choices: [
          { message: { refusal: "I can't" }, logprobs: { content: [{ token: 'a' }, { token: 'b' }] } },
        ],
      },
    })
  })

  test('verdicts of a filter that come late take away no identifier, model or time', () => {
    const verdict = { index: 0, finish_reason: null, content_filter_offsets: { start_offset: 0 } }
    const nameless = { id: '', object: '', created: 0, model: '' }
    const text = sse(
      { ...nameless, choices: [], prompt_filter_results: [] },
      chat([{ index: 0, delta: { content: 'A' }, finish_reason: 'stop' }]),
      { ...nameless, choices: [verdict] },
      '[DONE]',
    )
    expect(assembleStream(text)?.body).toMatchObject({
      id: 'c1',
      created: 7,
      model: 'm',
      choices: [{ message: { content: 'A' }, finish_reason: 'stop' }],
    })
  })

  test('a hostile chunk changes no prototype and makes no huge list', () => {
    const text =
      sse(chat([{ index: 4_000_000_000, delta: { content: 'x' } }])) +
      'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"__proto__":{"polluted":1},"content":"y"}}]}\n\n'
    expect(assembleStream(text)?.body['choices']).toHaveLength(2)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

test('completions', () => {
  const chunk = (text: string, finish: string | null) => ({
    object: 'text_completion',
    choices: [{ index: 0, text, finish_reason: finish }],
  })
  expect(assembleStream(sse(chunk('a', null), chunk('b', 'stop')))).toEqual({
    ended: true,
    body: { object: 'text_completion', choices: [{ index: 0, text: 'ab', finish_reason: 'stop' }] },
  })
})

describe('messages', () => {
  const start = {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 9, output_tokens: 1, cache_read_input_tokens: 5 },
    },
  }
  const block = (index: number, content_block: object) => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const delta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })

  test('thinking, text, a tool, usage, stop', () => {
    const text = named(
      start,
      block(0, { type: 'thinking', thinking: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 's' }),
      block(1, { type: 'text', text: '' }),
      { type: 'ping' },
      delta(1, { type: 'text_delta', text: 'He' }),
      delta(1, { type: 'text_delta', text: 'y' }),
      block(2, { type: 'tool_use', id: 't', name: 'f', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"a"' }),
      delta(2, { type: 'input_json_delta', partial_json: ':1}' }),
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: { output_tokens: 20, input_tokens: null, cache_read_input_tokens: 6 },
      } as { type: string },
      { type: 'message_stop' },
    )
    expect(assembleStream(text)).toEqual({
      ended: true,
      body: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'Hey' },
          { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 9, output_tokens: 20, cache_read_input_tokens: 6 },
      },
    })
  })

  test('cut off inside a tool: its input stays text; what the start says of the output is no count', () => {
    const text = named(
      start,
      block(0, { type: 'tool_use' }),
      delta(0, { type: 'input_json_delta', partial_json: '{"a' }),
    )
    expect(assembleStream(text)).toMatchObject({ ended: false, body: { content: [{ input: '{"a' }] } })
    expect(assembleStream(text)?.body['usage']).toEqual({ input_tokens: 9, cache_read_input_tokens: 5 })
  })
})

test.each([
  ['chat', { error: { message: 'overloaded' } }],
  ['chat of others', { error: 'overloaded' }],
  ['messages', { type: 'error', error: { message: 'overloaded' } }],
  ['responses', { type: 'error', code: 'server_error', message: 'overloaded' }],
])('nothing but an error: %s', (_name, chunk) => {
  const assembled = assembleStream(sse(chunk))
  expect([errorOfAnswer(assembled?.body), assembled?.ended]).toEqual(['overloaded', true])
})

test('an event of no format before the first that has one', () => {
  const text = sse({ type: 'ping' }, chat([{ index: 0, delta: { content: 'A' } }]))
  expect(assembleStream(text)?.body).toMatchObject({ choices: [{ message: { content: 'A' } }] })
})

test.each([
  ['another provider', sse({ outputs: [] })],
  ['another provider that fails', sse({ outputs: [] }, { error: { message: 'overloaded' } })],
  ['no JSON', sse('hello')],
  ['nothing', ''],
])('%s is not assembled', (_name, text) => {
  expect(assembleStream(text)).toBeUndefined()
})
