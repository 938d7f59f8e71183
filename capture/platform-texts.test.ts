import { expect, test } from '@jest/globals'
import { textsOfCall } from './texts-of-call.ts'

test.each<[string, unknown, unknown, object]>([
  [
    "variables of Dify's, by whatever names, and what is asked beside them",
    { inputs: { message: 'P', tone: 'Q', content: 'R' }, query: 'S', user: 'u-1' },
    { event: 'message', answer: 'A' },
    { prompt: 'P\nQ\nR\nS' },
  ],
  [
    "LangGraph's conversation and the variables beside it",
    {
      assistant_id: 'x',
      input: {
        messages: [
          { type: 'system', content: 'S' },
          { type: 'human', content: 'P' },
          { type: 'ai', content: 'old' },
          { type: 'tool', tool_call_id: 'x', content: 'T' },
        ],
        topic: 'Q',
      },
    },
    null,
    { system: 'S', prompt: 'P\nQ', context: ['T'] },
  ],
  [
    'turns whose words have another name: all of them are the prompt',
    { messages: [{ role: 'user', text: 'P' }] },
    { message: { role: 'ROLE_AGENT', parts: [{ text: 'A' }] } },
    { prompt: 'user\nP', answer: 'ROLE_AGENT\nA' },
  ],
  [
    'a question beside a conversation of pictures',
    { messages: [{ role: 'user', content: [{ type: 'image', source: { data: 'aGk=' } }] }], question: 'P' },
    null,
    { prompt: 'P' },
  ],
  [
    'a file that an answer is annotated with: its words, and not its pictures',
    { messages: [{ role: 'user', content: 'P' }] },
    {
      choices: [
        {
          message: {
            content: 'A',
            annotations: [
              {
                type: 'file',
                file: {
                  content: [
                    { type: 'text', text: 'T' },
                    { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
                  ],
                },
              },
            ],
          },
        },
      ],
    },
    { answer: 'A', context: ['T'] },
  ],
  [
    'a question beside the conversation',
    { chat_history: [{ role: 'assistant', content: 'old' }], question: 'P' },
    null,
    { prompt: 'P' },
  ],
  [
    "an assistant's run with messages of its own",
    { instructions: 'S', additional_messages: [{ role: 'user', content: 'P' }] },
    null,
    { system: 'S', prompt: 'P' },
  ],
  [
    'a document in what a tool answered',
    {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              content: [
                { type: 'document', source: { type: 'text', data: 'T' } },
                { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'U' }] } },
              ],
            },
          ],
        },
      ],
    },
    null,
    { prompt: '', context: ['T\nU'] },
  ],
  [
    // langchain-ai.github.io/langgraphjs/reference/types/sdk.AIMessage.html
    "LangGraph's answer, the conversation with it: what came of this run",
    { input: { messages: [{ type: 'human', content: 'P' }] } },
    {
      messages: [
        { type: 'human', content: 'old' },
        { type: 'ai', content: 'old' },
        { type: 'human', content: 'P', id: 'x' },
        { type: 'ai', content: [{ type: 'text', text: 'A' }], tool_calls: [{ name: 'f', args: {} }] },
        { type: 'tool', content: 'T', tool_call_id: 'x' },
        { type: 'ai', content: 'B', response_metadata: { model_name: 'x' } },
      ],
    },
    { prompt: 'P', answer: 'A\nB', context: ['T'] },
  ],
  [
    'a run of LangGraph that waits for a tool: no answer',
    null,
    {
      messages: [
        { type: 'human', content: 'P' },
        { type: 'ai', content: '', tool_calls: [{ name: 'f' }] },
      ],
    },
    { answer: '' },
  ],
  [
    "LangChain's stored messages: nothing of them is lost",
    null,
    { messages: [{ type: 'ai', data: { content: 'A' } }] },
    { answer: 'ai\nA' },
  ],
  [
    // docs.dify.ai/api-reference, POST /chat-messages
    "Dify's answer, and nothing that stands beside it",
    { query: 'P', inputs: {} },
    {
      event: 'message',
      message_id: 'x',
      mode: 'chat',
      answer: 'A',
      metadata: { usage: { currency: 'USD' }, retriever_resources: [{ content: 'T' }] },
    },
    { answer: 'A', context: ['T'] },
  ],
  [
    // replicate.com/docs/reference/http: the output of a language model is a list of chunks, and the answer
    // repeats its input.
    "Replicate's answer, in pieces of words",
    { input: { prompt: 'P' } },
    {
      id: 'x',
      input: { prompt: 'P' },
      output: ['Hel', 'lo', ' you'],
      urls: { get: 'u' },
      status: 'succeeded',
    },
    { prompt: 'P', answer: 'Hello you' },
  ],
  [
    "Replicate's files",
    { input: { prompt: 'P' } },
    { input: { prompt: 'P' }, output: ['https://r.test/a.png', 'https://r.test/b.png'], urls: { get: 'u' } },
    { answer: 'https://r.test/a.png\nhttps://r.test/b.png' },
  ],
  [
    "words under names that Replicate's models have for them",
    { input: { prompt: 'P' } },
    { input: { prompt: 'P' }, output: { transcription: 'A', segments: [{ said: 'B' }] }, urls: { get: 'u' } },
    { answer: 'A\nB' },
  ],
  [
    "a list of Replicate's with such names",
    { input: { prompt: 'P' } },
    { input: { prompt: 'P' }, output: [{ generated_text: 'A' }], urls: { get: 'u' } },
    { answer: 'A' },
  ],
  [
    'a prediction of Replicate that has just begun',
    { input: { prompt: 'P' } },
    { input: { prompt: 'P' }, output: null, urls: { get: 'u' }, status: 'starting' },
    { answer: '' },
  ],
  [
    'an answer in pieces',
    { input: { prompt: 'P' } },
    { output: ['A', 'B'] },
    { prompt: 'P', answer: 'A\nB' },
  ],
  ['an answer among data', { data: ['P'] }, { data: ['A'] }, { prompt: 'P', answer: 'A' }],
  ['a picture', { prompt: 'P' }, { created: 1, data: [{ b64_json: 'AAAA' }] }, { prompt: 'P', answer: '' }],
  [
    'an answer beside the steps to it',
    { input: 'P' },
    { output: 'A', steps: [{ action: 'B' }] },
    { prompt: 'P', answer: 'A\nB' },
  ],
])('what platforms for agents say is read: %s', (_name, request, response, expected) => {
  expect(textsOfCall(request, response)).toMatchObject(expected)
})
