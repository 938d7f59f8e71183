import { expect, test } from '@jest/globals'
import { readConversation } from './read-conversation.ts'
import { shown } from './testing/shown.ts'

const chat = {
  messages: [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [{ function: { name: 'find', arguments: '{"a":1}' } }] },
    { role: 'tool', content: '42' },
  ],
}

test.each([
  [
    'chat completions',
    chat,
    {
      choices: [
        {
          message: {
            role: 'assistant',
            content: 'Hello',
            tool_calls: [{ function: { name: 'book', arguments: '{}' } }],
          },
        },
      ],
    },
    [
      'system: Be brief.',
      'user: Hi | [Image image/png, 1 kB]',
      'assistant: find({"a":1})',
      'tool: 42',
      'assistant!: Hello | book({})',
    ],
  ],
  [
    'a refusal',
    { messages: [{ role: 'user', content: 'x' }] },
    { choices: [{ message: { content: null, refusal: 'No.' } }] },
    ['user: x', 'assistant!: No.'],
  ],
  [
    'messages with thinking and tools',
    {
      system: [{ type: 'text', text: 'Sys' }],
      messages: [
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't', name: 'run', input: { cmd: ['ls', { deep: 'x' }] } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'out' }] }],
        },
      ],
    },
    {
      content: [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'text', text: 'Done' },
      ],
    },
    [
      'system: Sys',
      'user: Go',
      'assistant: run(cmd.0=ls, cmd.1.deep=x)',
      'tool: out',
      'thinking!: Hm',
      'assistant!: Done',
    ],
  ],
  [
    'responses',
    {
      instructions: 'I',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Q' }] },
        { type: 'function_call_output', call_id: 'c', output: 'R' },
      ],
    },
    {
      output: [
        { type: 'message', content: [{ type: 'output_text', text: 'A' }] },
        { type: 'function_call', name: 'f', arguments: '{}' },
      ],
    },
    ['system: I', 'user: Q', 'tool: R', 'assistant!: A', 'assistant!: f({})'],
  ],
  [
    'contents and candidates',
    {
      systemInstruction: { parts: [{ text: 'S' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Q' }, { inlineData: { mimeType: 'image/jpeg', data: 'AAAA' } }] },
      ],
    },
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'A' }, { functionCall: { name: 'f', args: { x: 1 } } }] },
        },
      ],
    },
    ['system: S', 'user: Q | [Image image/jpeg, 1 kB]', 'assistant!: A | f(x=1)'],
  ],
  [
    'a completion',
    { prompt: ['one', 'two'] },
    { choices: [{ text: 'three' }] },
    ['user: one | two', 'assistant!: three'],
  ],
  [
    'a tool call',
    { type: 'mcp_tool_call', tool_name: 'mail', arguments: { to: 'a@b' } },
    { content: [{ type: 'text', text: 'sent' }] },
    ['assistant: mail(to=a@b)', 'tool!: content.0.type=text | content.0.text=sent'],
  ],
  [
    'a document that is text beside one that is not',
    {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              title: 'Terms',
              source: { type: 'text', media_type: 'text/plain', data: 'Pay.' },
            },
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Part' }] } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
          ],
        },
      ],
    },
    null,
    ['user: Terms | Pay. | Part | [File application/pdf, 1 kB]'],
  ],
  [
    'documents that the application found',
    { preamble: 'S', message: 'Q', documents: [{ title: 'D', snippet: 'E' }], context: 'C' },
    null,
    ['system: S', 'tool: 0.title=D | 0.snippet=E', 'tool: C', 'user: Q'],
  ],
  ['a shape of nobody with a context', { context: 'C', ask: 'Q' }, null, ['user: context=C | ask=Q']],
  [
    'an error',
    { messages: [{ role: 'user', content: 'x' }] },
    { error: { message: 'no such model' } },
    ['user: x', 'error!: no such model'],
  ],
  ['what the gateway cut', { truncated: true, text: '{"mess' }, null, ['user: {"mess']],
  ['nobody knows this shape', { foo: { bar: 'baz' } }, { n: 1 }, ['user: foo.bar=baz', 'assistant!: n=1']],
  ['nothing', null, null, []],
  [
    'vectors',
    { input: 'x' },
    { data: [{ embedding: Array.from({ length: 9 }, () => 1) }] },
    [
      'user: x',
      'assistant!: data.0.embedding.0=1 | data.0.embedding.1=1 | data.0.embedding.2=1 | data.0.embedding.3=1 | data.0.embedding.4=1 | data.0.embedding.5=1 | data.0.embedding.6=1 | data.0.embedding.7=1 | data.0.embedding.8=1',
    ],
  ],
])('%s', (_name, request, response, expected) => {
  expect(shown(request, response)).toEqual(expected)
})

test('every text says where it stands', () => {
  const pointers = readConversation(
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }], system: 's' },
    { 'a/b': { '~': 'x' } },
  )
    .flatMap(({ blocks }) => blocks)
    .map((block) => (block.kind === 'text' ? `${block.passage.part}${block.passage.pointer}` : ''))
  expect(pointers).toEqual([
    'request_body/system',
    'request_body/messages/0/content/0/text',
    'response_body/a~1b/~0',
  ])
})

test("the pieces of Replicate's words are one turn, files are turns of their own", () => {
  const urls = { get: 'https://api.replicate.com/v1/predictions/p' }
  const answer = { input: { prompt: 'Hi' }, output: ['A', 'ho', 'y ', '', 'there'], urls }
  expect(shown({ input: { prompt: 'Hi' } }, answer).at(-1)).toBe('assistant!: Ahoy there')
  expect(readConversation({}, answer).at(-1)?.blocks).toEqual([
    { kind: 'text', passage: { part: 'response_body', pointer: '/output', text: 'Ahoy there' } },
  ])
  const files = ['https://replicate.delivery/a.png', 'https://replicate.delivery/b.png']
  expect(shown({ prompt: 'Draw' }, { output: files, urls }).slice(1)).toEqual(
    files.map((file) => `assistant!: ${file}`),
  )
})

test("an answer of Bedrock's Converse is a turn", () => {
  const message = {
    role: 'assistant',
    content: [{ text: 'Let me see.' }, { toolUse: { toolUseId: 't', name: 'tide', input: { at: 'Hull' } } }],
  }
  const request = { messages: [{ role: 'user', content: [{ text: 'Tide?' }] }] }
  expect(shown(request, { output: { message }, stopReason: 'tool_use', usage: { inputTokens: 3 } })).toEqual([
    'user: Tide?',
    'assistant!: Let me see. | tide(at=Hull)',
  ])
})

test.each<[string, object, string]>([
  ['a text', { raw: 'Hi', encoding: 'utf8' }, 'Hi'],
  ['a stream that amounts to texts', { raw: 'data: …', encoding: 'utf8', joined: ['a', 'b'] }, 'a | b'],
  ['a stream that amounts to none', { raw: 'data: …', encoding: 'utf8', joined: [] }, 'data: …'],
])('an answer that was kept as %s', (_name, answer, text) => {
  expect(shown({ prompt: 'Hi' }, answer)).toEqual(['user: Hi', `assistant!: ${text}`])
})
