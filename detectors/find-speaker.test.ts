import { expect, test } from '@jest/globals'
import { readCall } from './call-text.ts'

test.each([
  [
    'a program that the model wrote, what came of it, and tools that were found',
    {
      output: [
        { type: 'program', code: 'assistant' },
        { type: 'program_output', result: 'tool' },
        { type: 'tool_search_output', tools: [{ description: 'tool' }] },
      ],
    },
  ],
  [
    'code that Gemini has run, and a search',
    {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { executableCode: { code: 'assistant' } },
              { codeExecutionResult: { output: 'tool' } },
              { toolResponse: { response: { text: 'tool' } } },
            ],
          },
        },
      ],
    },
  ],
  [
    'what Groq has run',
    {
      choices: [
        {
          message: {
            role: 'assistant',
            executed_tools: [{ arguments: 'assistant', output: 'tool', code_results: [{ text: 'tool' }] }],
          },
        },
      ],
    },
  ],
  [
    'what OpenRouter has run',
    { output: [{ type: 'openrouter:bash', command: 'assistant', stdout: 'tool', stderr: 'tool' }] },
  ],
  [
    'a call of a server that failed',
    {
      output: [
        { type: 'mcp_call', arguments: 'assistant', output: null, error: { content: [{ text: 'tool' }] } },
        { type: 'mcp_call', arguments: '', output: null, error: 'tool' },
      ],
    },
  ],
  [
    "Replicate's prediction, which has in it what was asked, and an answer in pieces",
    { input: { prompt: 'user' }, output: ['assi', 'stant'], urls: { get: 'assistant' } },
  ],
])('who speaks: %s', (_name, value) => {
  const { texts } = readCall(null, { json: '', value })
  expect(texts.map(({ text }) => text)).toEqual(texts.map(({ speaker }) => speaker))
  expect(texts).toHaveLength(3)
})
