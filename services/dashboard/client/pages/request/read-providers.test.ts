import { expect, test } from '@jest/globals'
import { shown } from './testing/shown.ts'

test.each([
  [
    'Bedrock Converse',
    {
      system: [{ text: 'S' }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'Q' },
            { image: { format: 'png', source: { bytes: 'AAAA' } } },
            { document: { format: 'pdf', name: 'd', source: { bytes: 'AAAA' } } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm' } } },
            { toolUse: { toolUseId: 't', name: 'find', input: { a: 1 } } },
          ],
        },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 't', content: [{ text: 'R' }, { json: { b: 2 } }] } }],
        },
      ],
    },
    { output: { message: { role: 'assistant', content: [{ text: 'A' }] } } },
    [
      'system: S',
      'user: Q | [Image image/png, 1 kB] | [File pdf, 1 kB]',
      'thinking: Hm',
      'assistant: find(a=1)',
      'tool: R | b=2',
      'assistant!: A',
    ],
  ],
  [
    'a chat of Ollama',
    {
      messages: [
        { role: 'user', content: 'Q', images: ['iVBORwAA'] },
        { role: 'tool', content: 'R' },
      ],
    },
    { message: { role: 'assistant', content: 'A', thinking: 'T' }, done: true },
    ['user: Q | [Image image/png, 1 kB]', 'tool: R', 'thinking!: T', 'assistant!: A'],
  ],
  [
    "Ollama's answer to a prompt",
    { prompt: 'Q', system: 'S' },
    { response: 'A', thinking: 'T', done: true },
    ['system: S', 'user: Q', 'thinking!: T', 'assistant!: A'],
  ],
  [
    'tools that the provider ran',
    { input: 'Q' },
    { output: [{ type: 'mcp_call', name: 'x', arguments: '{}', output: 'R' }] },
    ['user: Q', 'assistant!: x({})', 'tool!: R'],
  ],
  [
    'code that Gemini ran',
    { contents: [{ parts: [{ text: 'Q' }] }] },
    {
      candidates: [
        {
          content: {
            parts: [
              { executableCode: { language: 'PYTHON', code: 'print(1)' } },
              { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
            ],
          },
        },
      ],
    },
    ['user: Q', 'assistant!: PYTHON(print(1))', 'tool!: 1'],
  ],
  [
    'a question that Gemini blocked',
    { contents: [{ parts: [{ text: 'Q' }] }] },
    { promptFeedback: { blockReason: 'SAFETY' } },
    ['user: Q', 'error!: blockReason=SAFETY'],
  ],
])('who says what in %s', (_name, request, response, expected) => {
  expect(shown(request, response)).toEqual(expected)
})
