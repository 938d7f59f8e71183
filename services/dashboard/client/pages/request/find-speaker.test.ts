import { expect, test } from '@jest/globals'
import { shown } from './testing/shown.ts'

test.each<[string, unknown, unknown, string[]]>([
  [
    'beside results of tools, a user',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't', content: 'out' },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
    },
    null,
    ['tool: out', 'user: And now?'],
  ],
  [
    'between results of a tool at the provider, a model',
    {},
    {
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'server_tool_use', name: 'web_search', input: { query: 'q' } },
        { type: 'web_search_tool_result', tool_use_id: 't', content: [{ title: 'Found' }] },
        { type: 'text', text: 'So.' },
      ],
    },
    ['assistant!: I look. | web_search(query=q)', 'tool!: title=Found', 'assistant!: So.'],
  ],
  [
    "with results of functions, Gemini's user",
    {
      contents: [
        { role: 'model', parts: [{ text: 'Hm', thought: true }, { functionCall: { name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { wet: true } } }] },
      ],
    },
    { candidates: [{ content: { parts: [{ text: 'Hm', thought: true }, { text: 'Wet.' }] } }] },
    ['thinking: Hm', 'assistant: f()', 'tool: wet=true', 'thinking!: Hm', 'assistant!: Wet.'],
  ],
  [
    "of Converse, a model that thinks and a user's tool",
    { messages: [{ role: 'user', content: [{ toolResult: { content: [{ text: 'out' }] } }] }] },
    {
      output: {
        message: { content: [{ reasoningContent: { reasoningText: { text: 'Hm' } } }, { text: 'So.' }] },
      },
    },
    ['tool: out', 'thinking!: Hm', 'assistant!: So.'],
  ],
  [
    'of the responses shape, a model that thinks',
    {},
    {
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
      ],
    },
    ['thinking!: Hm', 'assistant!: So.'],
  ],
  [
    'of chat completions, a model that thinks',
    { messages: [{ role: 'assistant', reasoning_content: 'Hm', content: 'So.' }] },
    { choices: [{ message: { reasoning: 'Hm', content: 'So.' } }] },
    ['thinking: Hm', 'assistant: So.', 'thinking!: Hm', 'assistant!: So.'],
  ],
  [
    'that broke off, a model',
    {},
    { choices: [{ message: { content: 'So' } }], error: { message: 'overloaded' } },
    ['assistant!: So', 'error!: overloaded'],
  ],
])('%s speaks for itself alone', (_name, request, response, expected) => {
  expect(shown(request, response)).toEqual(expected)
})

test.each<[string, unknown, string]>([
  ['Anthropic', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'Overloaded'],
  ['Cohere', { message: 'invalid api token' }, 'invalid api token'],
  ['FastAPI', { detail: 'Not Found' }, 'detail=Not Found'],
  ['a proxy', { raw: '<html>bad gateway</html>', encoding: 'utf8' }, '<html>bad gateway</html>'],
])('what %s says of a failure is no answer of the model', (_name, response, said) => {
  expect(shown({ prompt: 'x' }, response, 502)).toEqual(['user: x', `error!: ${said}`])
})
