import { expect, test } from '@jest/globals'
import { parseBody, readCall } from './call-text.ts'

test.each<[string, unknown, unknown]>([
  [
    'sources that Gemini quotes, and what of its answer they are for',
    {},
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'model' }] },
          groundingMetadata: {
            webSearchQueries: ['model'],
            searchEntryPoint: { renderedContent: 'tool' },
            groundingChunks: [
              { retrievedContext: { title: 'tool', text: 'tool' } },
              { web: { title: 'tool' } },
            ],
            groundingSupports: [{ segment: { text: 'model' }, groundingChunkIndices: [0] }],
          },
          citationMetadata: { citationSources: [{ uri: 'tool' }] },
        },
      ],
    },
  ],
  [
    'sources that Messages and chat completions quote, in this answer and an earlier one',
    {
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'model', citations: [{ cited_text: 'tool' }] }],
        },
      ],
    },
    {
      content: [{ type: 'text', text: 'model', citations: [{ cited_text: 'tool' }] }],
      choices: [{ message: { content: 'model', annotations: [{ url_citation: { title: 'tool' } }] } }],
    },
  ],
  [
    'what Bedrock and Cohere say from the sources beside it, whatever those call themselves',
    {},
    {
      output: {
        message: {
          role: 'assistant',
          content: [
            {
              citationsContent: {
                content: [{ text: 'model' }],
                citations: [{ sourceContent: [{ text: 'tool' }] }],
              },
            },
          ],
        },
      },
      message: {
        citations: [
          {
            text: 'model',
            sources: [{ document: { snippet: 'tool' } }, { tool_output: { text: 'tool', sources: [] } }],
          },
        ],
      },
    },
  ],
])('each text says whose it is: %s', (_name, request, response) => {
  const { texts } = readCall(parseBody(JSON.stringify(request)), parseBody(JSON.stringify(response)))
  expect(texts.map(({ text }) => text)).toContain('tool')
  expect(texts.filter(({ speaker, text }) => (speaker === 'assistant' ? 'model' : speaker) !== text)).toEqual(
    [],
  )
})
