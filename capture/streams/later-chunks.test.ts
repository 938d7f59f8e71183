import { expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

const sse = (chunks: readonly object[]) =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
const chat = (choice: object, more: object = {}) => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, ...choice }],
  ...more,
})
const said = chat({ delta: { content: 'Hi' }, finish_reason: 'stop' })
const start = {
  type: 'message_start',
  message: { type: 'message', usage: { input_tokens: 9, output_tokens: 1 } },
}
const zeros = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_tokens_details: { cached_tokens: 0 },
}
const counted = {
  prompt_tokens: 9,
  completion_tokens: 2,
  total_tokens: 11,
  prompt_tokens_details: { cached_tokens: 4 },
}

test.each<[string, object[], object]>([
  [
    'chat',
    [
      { ...said, usage: counted },
      { ...chat({}), choices: [], usage: zeros },
    ],
    { usage: counted },
  ],
  [
    'chat, a null',
    [
      { ...said, usage: counted },
      { ...chat({}), choices: [], usage: null },
    ],
    { usage: counted },
  ],
  [
    "chat, Groq's",
    [
      { ...said, x_groq: { usage: counted } },
      { ...chat({}), x_groq: { usage: zeros } },
    ],
    { x_groq: { usage: counted } },
  ],
  ['chat, nothing but zeros', [{ ...said, usage: zeros }], { usage: zeros }],
  [
    'chat, counts that grow',
    [
      { ...said, usage: counted },
      { ...said, usage: { ...counted, completion_tokens: 3 } },
    ],
    { usage: { ...counted, completion_tokens: 3 } },
  ],
  [
    'completions',
    [
      { object: 'text_completion', choices: [{ text: 'a' }], usage: counted },
      { object: 'text_completion', choices: [], usage: zeros },
    ],
    { usage: counted },
  ],
  [
    'messages',
    [start, { type: 'message_delta', delta: {}, usage: { input_tokens: 0, output_tokens: 7 } }],
    { usage: { input_tokens: 9, output_tokens: 7 } },
  ],
  [
    'candidates',
    [
      { candidates: [], usageMetadata: { promptTokenCount: 9 } },
      { candidates: [], usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 2 } },
    ],
    { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 } },
  ],
])('counts of zero that come last take back none: %s', (_name, chunks, expected) => {
  expect(assembleStream(sse(chunks))?.body).toMatchObject(expected)
})

const verdict = (filtered: boolean, severity: string) => ({ filtered, severity })
const filtered = (results: object) =>
  chat({ delta: {}, finish_reason: null, content_filter_results: results })

test("a later verdict of Azure's filter does not take back an earlier one", () => {
  const chunks = [
    {
      object: '',
      choices: [],
      prompt_filter_results: [
        { prompt_index: 0, content_filter_results: { jailbreak: { detected: true, filtered: false } } },
      ],
    },
    filtered({ hate: verdict(false, 'low'), violence: verdict(true, 'high') }),
    filtered({
      hate: verdict(false, 'medium'),
      violence: verdict(false, 'safe'),
      custom_blocklists: { filtered: true, details: [{ id: 'words', filtered: true }] },
    }),
    chat({ delta: { content: 'x' }, finish_reason: 'content_filter' }),
    filtered({
      hate: verdict(false, 'safe'),
      custom_blocklists: {
        filtered: false,
        details: [
          { id: 'words', filtered: false },
          { id: 'more', filtered: false },
        ],
      },
    }),
    { object: '', choices: [], prompt_filter_results: [] },
    {
      object: '',
      choices: [],
      prompt_filter_results: [
        { prompt_index: 0, content_filter_results: { jailbreak: { detected: false, filtered: false } } },
      ],
    },
    chat({ delta: {}, finish_reason: 'stop' }),
  ]
  expect(assembleStream(sse(chunks))?.body).toMatchObject({
    prompt_filter_results: [
      { prompt_index: 0, content_filter_results: { jailbreak: { detected: true, filtered: false } } },
    ],
    choices: [
      {
        finish_reason: 'content_filter',
        content_filter_results: {
          hate: verdict(false, 'medium'),
          violence: verdict(true, 'high'),
          custom_blocklists: {
            filtered: true,
            details: [
              { id: 'words', filtered: true },
              { id: 'more', filtered: false },
            ],
          },
        },
      },
    ],
  })
})
