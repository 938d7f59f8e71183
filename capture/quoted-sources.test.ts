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
  [
    'sources that Perplexity found, Azure and Dify quote',
    { messages: [{ role: 'user', content: 'P' }] },
    {
      choices: [{ message: { content: 'A', context: { citations: [{ title: 'X', content: 'T' }] } } }],
      citations: ['https://x.example'],
      search_results: [{ title: 'X', url: 'X', snippet: 'U' }],
      metadata: { retriever_resources: [{ document_name: 'X', content: 'V' }] },
    },
    { prompt: 'P', answer: 'A', context: ['T', 'U', 'V'] },
  ],
  [
    'documents, once: a quotation of one that was supplied is none of its own, its lines may end elsewhere,',
    {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'Cats sleep.\nDogs bark.' },
            },
            { type: 'text', text: 'P' },
          ],
        },
      ],
    },
    {
      content: [
        { type: 'text', text: 'A', citations: [{ type: 'char_location', cited_text: 'Cats sleep. Dogs' }] },
        { type: 'text', text: 'B', citations: [{ type: 'page_location', cited_text: 'Birds sing.' }] },
      ],
    },
    { prompt: 'P', answer: 'A\nB', context: ['Cats sleep.\nDogs bark.', 'Birds sing.'] },
  ],
  [
    'the words quoted of a PDF, which has no others,',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' } },
          ],
        },
      ],
    },
    { content: [{ type: 'text', text: 'A', citations: [{ type: 'page_location', cited_text: 'T' }] }] },
    { prompt: '', answer: 'A', context: ['T'] },
  ],
])('%s are what was supplied', (_name, request, response, expected) => {
  expect(textsOfCall(request, response)).toMatchObject(expected as object)
})
