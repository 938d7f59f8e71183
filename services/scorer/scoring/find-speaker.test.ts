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
    "Replicate's prediction, which has in it what was asked, and an answer in pieces",
    { input: { prompt: 'user' }, output: ['assi', 'stant'], urls: { get: 'assistant' } },
  ],
])('who speaks: %s', (_name, value) => {
  // Each text says whose it is.
  const { texts } = readCall(null, { json: '', value })
  expect(texts.map(({ text }) => text)).toEqual(texts.map(({ speaker }) => speaker))
  expect(texts).toHaveLength(3)
})
