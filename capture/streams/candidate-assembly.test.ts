import { expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

const part = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }] })
const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')

test('candidates: texts go on, thoughts and function calls stand apart, the last usage stands', () => {
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

test('the same in a JSON list, an error at its end included', () => {
  const chunks = [part({ text: 'He' }), part({ text: 'y' }), { error: { message: 'overloaded' } }]
  expect(assembleStream(`\n${JSON.stringify(chunks, null, 1)}`)).toEqual({
    ...assembleStream(sse(...chunks)),
    ended: true,
  })
})

test.each([
  ['of something else', '[{"text":"a"}]'],
  ['of an error', '[{"error":{"message":"a"}}]'],
  ['that was cut off', '[{"candidates":[]}'],
  ['of nothing', '[]'],
])('a JSON list %s is no message', (_name, text) => {
  expect(assembleStream(text)).toBeUndefined()
})
