import { expect, test } from '@jest/globals'
import { textsOfCall } from './texts-of-call.ts'

test.each<[string, unknown, unknown, unknown]>([
  [
    'sources that messages quote, without their titles',
    { messages: [{ role: 'user', content: 'P' }] },
    { content: [{ type: 'text', text: 'A', citations: [{ cited_text: 'T', title: 'X', url: 'X' }] }] },
    { prompt: 'P', answer: 'A', context: ['T'] },
  ],
  [
    'sources that Gemini quotes',
    { contents: 'P' },
    {
      candidates: [
        {
          content: { parts: [{ text: 'A' }] },
          groundingMetadata: {
            groundingChunks: [{ retrievedContext: { text: 'T' } }, { web: { title: 'X' } }],
            groundingSupports: [{ segment: { text: 'A' } }],
          },
        },
      ],
    },
    { prompt: 'P', answer: 'A', context: ['T'] },
  ],
  [
    'sources that Bedrock quotes, and the answer from them',
    { messages: [{ role: 'user', content: [{ text: 'P' }] }] },
    {
      output: {
        message: {
          content: [
            {
              citationsContent: {
                content: [{ text: 'A' }],
                citations: [{ title: 'X', sourceContent: [{ text: 'T' }] }],
              },
            },
          ],
        },
      },
    },
    { prompt: 'P', answer: 'A', context: ['T'] },
  ],
  [
    'sources that Cohere quotes',
    { messages: [{ role: 'user', content: 'P' }] },
    {
      message: {
        content: [{ type: 'text', text: 'A' }],
        citations: [{ text: 'A', sources: [{ document: { snippet: 'T' } }, { tool_output: { a: 'U' } }] }],
      },
    },
    { prompt: 'P', answer: 'A', context: ['T', 'U'] },
  ],
])('%s are what was supplied', (_name, request, response, expected) => {
  expect(textsOfCall(request, response)).toMatchObject(expected as object)
})
