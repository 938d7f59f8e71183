import { expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')

test('candidates: texts go on, thoughts and function calls stand apart, the last usage stands', () => {
  const part = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }] })
  const text = sse(
    part({ text: 'hm', thought: true }),
    { ...part({ text: 'He' }), usageMetadata: { promptTokenCount: 3 } },
    part({ text: 'y' }, { functionCall: { name: 'f', args: { a: 1 } } }),
    {
      candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5 },
      modelVersion: 'gemini-x',
    },
  )
  expect(assembleStream(text)).toEqual({
    ended: true,
    body: {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'hm', thought: true },
              { text: 'Hey' },
              { functionCall: { name: 'f', args: { a: 1 } } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5 },
      modelVersion: 'gemini-x',
    },
  })
})
