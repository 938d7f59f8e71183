import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { describeCall } from './describe-call.ts'
import { textsOfCall } from './texts-of-call.ts'

test('a chat with tools and several choices', () => {
  const texts = textsOfCall(
    {
      messages: [
        { role: 'developer', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Weather?' },
            { type: 'image_url', image_url: { url: 'data:' } },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ function: { name: 'w', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: '1', content: 'Rain' },
        { role: 'user', content: 'And now?' },
      ],
    },
    { choices: [{ message: { content: 'Wet.' } }, { message: { content: null, refusal: 'No.' } }] },
  )
  expect(texts).toMatchObject({
    system: 'Be kind.',
    prompt: 'Weather?\nAnd now?',
    answer: 'Wet.\nNo.',
    toolCalls: [],
    context: ['Rain'],
  })
  expect(texts.messages.map(({ role }) => role)).toEqual(['system', 'user', 'tool', 'user'])
})

test('a conversation that is shortened: its users’ words are no answer', () => {
  const message = (role: string) => ({ type: 'message', role, content: [{ type: 'input_text', text: role }] })
  const compacted = {
    object: 'response.compaction',
    output: [message('user'), { type: 'compaction', encrypted_content: 'x' }],
    usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
  }
  expect(textsOfCall({ model: 'gpt-x', input: 'Hi' }, compacted)).toMatchObject({ prompt: 'Hi', answer: '' })
  expect(describeCall({ requestBody: { input: 'Hi' }, responseBody: compacted })).toMatchObject({
    shape: 'responses',
    promptTokens: 9,
    completionTokens: 2,
  })
})

test.each<[string, unknown, unknown, object]>([
  [
    'messages',
    {
      system: [{ type: 'text', text: 'S' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'tool_result', content: [{ type: 'text', text: 'T' }] },
            { type: 'text', text: 'P' },
          ],
        },
      ],
    },
    {
      type: 'message',
      content: [
        { type: 'text', text: 'A' },
        { type: 'tool_use', name: 'f', input: {} },
      ],
    },
    { system: 'S', prompt: 'P', answer: 'A', context: ['T'], toolCalls: [{ name: 'f', arguments: '{}' }] },
  ],
  [
    'responses',
    {
      instructions: 'S',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'P' }] },
        { type: 'function_call_output', call_id: 'c', output: 'T' },
      ],
    },
    { object: 'response', output: [{ type: 'message', content: [{ type: 'output_text', text: 'A' }] }] },
    { system: 'S', prompt: 'P', answer: 'A', context: ['T'] },
  ],
  [
    "results of the provider's own tools, messages",
    {
      messages: [
        { role: 'user', content: [{ type: 'search_result', content: [{ type: 'text', text: 'T' }] }] },
      ],
    },
    {
      content: [
        { type: 'web_search_tool_result', content: [{ title: 'U', encrypted_content: 'X' }] },
        { type: 'mcp_tool_result', content: [{ type: 'text', text: 'V' }] },
        { type: 'text', text: 'A' },
      ],
    },
    { prompt: '', answer: 'A', context: ['T', 'U', 'V'] },
  ],
  [
    "results of the provider's own tools, responses",
    { input: 'P' },
    {
      output: [
        { type: 'file_search_call', results: [{ text: 'T' }] },
        { type: 'mcp_call', name: 'f', arguments: '{}', output: 'U' },
        { type: 'code_interpreter_call', outputs: [{ logs: 'V' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'A' }] },
      ],
    },
    { prompt: 'P', answer: 'A', context: ['T', 'U', 'V'] },
  ],
  [
    'results in the items of earlier calls, and what servers say of their tools, which is none',
    {
      input: [
        { type: 'mcp_list_tools', tools: [{ name: 'X', description: 'X' }] },
        { type: 'mcp_call', name: 'f', arguments: '{}', output: 'T' },
      ],
    },
    { output: [{ type: 'mcp_list_tools', tools: [{ description: 'X' }] }] },
    { prompt: '', answer: '', context: ['T'] },
  ],
  [
    "Cohere's first results, and what Gemini's code gave",
    { message: 'P', tool_results: [{ outputs: [{ a: 'T' }] }] },
    { candidates: [{ content: { parts: [{ codeExecutionResult: { output: 'U' } }, { text: 'A' }] } }] },
    { prompt: 'P', answer: 'A', context: ['T', 'U'] },
  ],
  [
    'a document in a result of Cohere',
    { messages: [{ role: 'tool', content: [{ type: 'document', document: { data: 'T' } }] }] },
    { message: { role: 'assistant', content: [{ type: 'text', text: 'A' }] } },
    { prompt: '', answer: 'A', context: ['T'] },
  ],
  [
    'an answer that is spoken',
    { messages: [{ role: 'user', content: 'P' }] },
    { choices: [{ message: { content: null, audio: { id: 'a', data: 'AAAA', transcript: 'A' } } }] },
    { prompt: 'P', answer: 'A' },
  ],
  ['completions', { prompt: ['P', 'Q'] }, { choices: [{ text: 'A' }] }, { prompt: 'P\nQ', answer: 'A' }],
  [
    'embeddings',
    { input: ['P', 'Q'] },
    { object: 'list', data: [{ embedding: 'AAAA' }] },
    { prompt: 'P\nQ', answer: '' },
  ],
  [
    'Gemini',
    { systemInstruction: { parts: [{ text: 'S' }] }, contents: [{ role: 'user', parts: [{ text: 'P' }] }] },
    { candidates: [{ content: { parts: [{ text: 'A' }] } }] },
    { system: 'S', prompt: 'P', answer: 'A' },
  ],
  [
    'Cohere with documents',
    {
      message: 'P',
      preamble: 'S',
      chat_history: [{ role: 'CHATBOT', message: 'old' }],
      documents: [{ title: 'D', snippet: 'E' }],
    },
    { text: 'A' },
    { system: 'S', prompt: 'P', answer: 'A', context: ['D\nE'] },
  ],
  [
    'a tool call: its arguments and its result',
    { type: 'mcp_tool_call', tool_name: 'search', arguments: { q: ['P', 5] } },
    { content: [{ type: 'text', text: 'A' }] },
    { prompt: 'P', answer: 'A', toolCalls: [{ name: 'search', arguments: '{"q":["P",5]}' }] },
  ],
  [
    'a function that was traced',
    { args: ['P', { q: 'Q' }] },
    { result: { deep: ['A'] } },
    { prompt: 'P\nQ', answer: 'A' },
  ],
  [
    'one whose values were too long',
    { type: 'trace', function: 'f', arguments: ['P'], truncated: true },
    { result: ['A'], truncated: true },
    { prompt: 'P', answer: 'A' },
  ],
  [
    'bodies that the gateway wrapped',
    { truncated: true, bytes: 5, sha256: 'ab'.repeat(32), text: 'P' },
    { raw: 'A', encoding: 'utf8' },
    { prompt: 'P', answer: 'A' },
  ],
  [
    'an answer of Cohere that broke off before its first word',
    { messages: [{ role: 'user', content: 'P' }] },
    { id: 'm', message: { role: 'assistant', content: [{ type: 'text', text: '' }] } },
    { prompt: 'P', answer: '' },
  ],
  [
    "a call without a word, as Ollama's own format has it",
    { messages: [{ role: 'user', content: 'P' }] },
    { model: 'm', message: { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f' } }] } },
    { answer: '', toolCalls: [{ name: 'f' }] },
  ],
  ["Ollama's embeddings", { input: 'P' }, { model: 'm', embeddings: [[0.5]] }, { prompt: 'P', answer: '' }],
  [
    'a traced function: nobody said its name',
    { type: 'trace', function: 'f', arguments: ['P'] },
    null,
    { prompt: 'P' },
  ],
  ['no JSON object at all', 'P', null, { prompt: 'P', answer: '' }],
])('%s', (_name, request, response, expected) => {
  expect(textsOfCall(request, response)).toMatchObject(expected)
})

test('a body nested deeper than the stack, and one wider than a call takes arguments', () => {
  const deep: unknown = JSON.parse('['.repeat(200_000) + '"x"' + ']'.repeat(200_000))
  expect(textsOfCall(deep, null).prompt).toBe('x')
  expect(textsOfCall({ any: Array.from({ length: 300_000 }, () => 'x') }, null).prompt).toHaveLength(599_999)
})

test('any JSON is read without an error', () => {
  const names = fc.constantFrom(
    'messages',
    'content',
    'role',
    'choices',
    'message',
    'tool_calls',
    'type',
    'input',
    '__proto__',
  )
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.string(),
      fc.integer(),
      fc.constant(null),
      fc.constantFrom('user', 'tool_result', 'function_call'),
      fc.array(tie('value')),
      fc.dictionary(names, tie('value')),
    ),
  })).value
  fc.assert(
    fc.property(json, json, (requestBody, responseBody) => {
      expect(typeof textsOfCall(requestBody, responseBody).prompt).toBe('string')
      expect(describeCall({ requestBody, responseBody })).toHaveProperty('model')
    }),
  )
})
