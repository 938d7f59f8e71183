import { expect, jest, test } from '@jest/globals'
import type { JsonObject } from '../json.ts'
import { assembleStream } from './assemble-stream.ts'
import { createCandidateAssembly } from './candidate-assembly.ts'
import { createChatAssembly } from './chat-assembly.ts'
import { createCompletionAssembly } from './completion-assembly.ts'
import { createInteractionAssembly } from './interaction-assembly.ts'
import { createMessageAssembly } from './message-assembly.ts'
import { createResponseAssembly } from './response-assembly.ts'
import { createRunAssembly } from './run-assembly.ts'
import type { StreamAssembly } from './stream-assembly.ts'

// Some take over 30 s beside two other test runs on two cores.
jest.setTimeout(120_000)

const sse = (chunks: readonly object[]) =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
const many = (count: number, chunk: (at: number) => object) =>
  Array.from({ length: count }, (_, at) => chunk(at))
const fields = (count: number) => Object.fromEntries(many(count, (at) => [`f${at}`, 0]) as [string, 0][])

const chat = (delta: object) => ({ object: 'chat.completion.chunk', choices: [{ index: 0, delta }] })
const began = { type: 'message_start', message: { type: 'message' } }
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
const cited = (citation: unknown) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'citations_delta', citation },
})
const created = { type: 'response.created', response: {} }
const words = (contentIndex: number) => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: contentIndex,
  delta: 'x',
})

// With a copy per chunk, each of these would take from half a minute to many.
test.each<[string, object[], (body: JsonObject) => unknown, unknown]>([
  [
    'an object with a field more in each chunk',
    many(80_000, (at) => chat({ a: { [`k${at}`]: 1 } })),
    (body) => Object.keys(at(body, 'choices', 0, 'message', 'a') as object).length,
    80_000,
  ],
  [
    'an entry of a list with a field more in each chunk',
    many(80_000, (at) => chat({ tool_calls: [{ index: 0, [`k${at}`]: 1 }] })),
    (body) => Object.keys(at(body, 'choices', 0, 'message', 'tool_calls', 0) as object).length,
    80_000,
  ],
  [
    'the first of a thousand entries, again and again',
    [
      chat({ tool_calls: many(1_024, (index) => ({ index })) }),
      ...many(600, () => chat({ tool_calls: many(2_000, () => ({ index: 0 })) })),
    ],
    (body) => (at(body, 'choices', 0, 'message', 'tool_calls') as unknown[]).length,
    1_024,
  ],
  [
    'citations',
    [began, block, ...many(160_000, cited)],
    (body) => (at(body, 'content', 0, 'citations') as unknown[]).length,
    160_000,
  ],
  [
    'counts with a field more in each chunk',
    [began, ...many(80_000, (at) => ({ type: 'message_delta', usage: { [`k${at}`]: 1 } }))],
    (body) => Object.keys(body['usage'] as object).length,
    80_000,
  ],
  [
    'parts with a higher index in each chunk',
    [created, ...many(160_000, words)],
    (body) =>
      (at(body, 'output', 0, 'content') as { text: string }[]).map(({ text }) => text.length).slice(-2),
    [1, 160_000 - 1_023],
  ],
  [
    'a part of many fields',
    [
      created,
      { type: 'response.output_item.added', output_index: 0, item: { content: [fields(20_000)] } },
      ...many(40_000, () => words(0)),
    ],
    (body) => at(body, 'output', 0, 'content', 0, 'text'),
    'x'.repeat(40_000),
  ],
  [
    'errors behind a large answer',
    [{ type: 'response.created', response: fields(20_000) }, ...many(40_000, () => ({ type: 'error' }))],
    (body) => body['error'],
    { type: 'error' },
  ],
  [
    'errors behind a large state',
    [{ messages: [{ type: 'ai' }], ...fields(20_000) }, ...many(40_000, () => ({ error: 'e' }))],
    (body) => body['error'],
    'e',
  ],
  [
    'a part of a candidate with a field more in each chunk',
    many(40_000, (at) => ({ candidates: [{ content: { parts: [{ text: 'x', [`k${at}`]: 1 }] } }] })),
    (body) => at(body, 'candidates', 0, 'content', 'parts', 0, 'text'),
    'x'.repeat(40_000),
  ],
  [
    'arguments in pieces with a field more in each',
    many(40_000, (at) => ({
      candidates: [
        { content: { parts: [{ functionCall: { [`k${at}`]: 1, willContinue: true }, [`p${at}`]: 1 }] } },
      ],
    })),
    (body) => Object.keys(at(body, 'candidates', 0, 'content', 'parts', 0, 'functionCall') as object).length,
    40_001,
  ],
])('a long stream costs no more for each chunk than a short one: %s', (_name, chunks, read, expected) => {
  expect(read(assembleStream(sse(chunks))?.body ?? {})).toEqual(expected)
})

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((found, name) => (found as Record<string | number, unknown>)[name], value)
}

test.each([5, 'x', {}, null, true])('citations that are no list (%j) are none', (citations) => {
  const begun = { ...block, content_block: { type: 'text', text: '', citations } }
  expect(assembleStream(sse([began, begun, cited(1), cited(2)]))?.body).toMatchObject({
    content: [{ citations: [1, 2] }],
  })
})

test('a list for an index of a choice ends', () => {
  const chunk = { object: 'text_completion', choices: [{ index: [1], text: 'a' }] }
  expect(assembleStream(sse([chunk]))?.body).toMatchObject({ choices: [{ text: 'a' }] })
})

test('of an index that no part has, the part behind the last; of what is none, the first', () => {
  const delta = (contentIndex: unknown, text: string) => ({
    ...words(0),
    content_index: contentIndex,
    delta: text,
  })
  const chunks = [created, delta(7, 'a'), delta(7, 'b'), delta(0.5, 'c'), delta(-1, 'd')]
  expect(assembleStream(sse(chunks))?.body).toMatchObject({
    output: [{ content: [{ text: 'acd' }, { text: 'b' }] }],
  })
})

const step = (delta: object) => ({ event_type: 'step.delta', index: 0, delta })

// The assembly owns what it grows.
test.each<[string, () => StreamAssembly, object[]]>([
  [
    'chat',
    createChatAssembly,
    [
      chat({
        content: [{ type: 'text', text: 'a' }],
        tool_calls: [{ index: 0, function: { arguments: '{' } }],
      }),
      chat({ content: 'b', tool_calls: [{ index: 0, function: { arguments: '}' }, a: { b: [1] } }] }),
      chat({ content: [{ type: 'text', text: 'c' }], tool_calls: [{ index: 0, a: { b: [2], c: 3 } }] }),
    ],
  ],
  [
    'completions',
    createCompletionAssembly,
    [{ choices: [{ index: 0, text: 'a', logprobs: { tokens: ['a'], top: { a: 1 } } }] }],
  ],
  [
    'messages',
    createMessageAssembly,
    [
      began,
      { ...block, content_block: { type: 'text', text: 'a', citations: [0] } },
      cited(1),
      { type: 'message_delta', delta: {}, usage: { output_tokens: 1 } },
    ],
  ],
  [
    'responses',
    createResponseAssembly,
    [
      created,
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { content: [{ type: 'output_text', text: 'a' }] },
      },
      words(0),
      words(1),
      { type: 'error', error: {} },
    ],
  ],
  ['candidates', createCandidateAssembly, [{ candidates: [{ content: { parts: [{ text: 'a' }] } }] }]],
  [
    'interactions',
    createInteractionAssembly,
    [
      {
        event_type: 'step.start',
        index: 0,
        step: { type: 'model_output', content: [{ type: 'text', text: 'a', annotations: [1] }] },
      },
      step({ type: 'text', text: 'b' }),
      step({ type: 'text_annotation_delta', annotations: [{ a: 1 }] }),
    ],
  ],
  ['runs', createRunAssembly, [{ messages: [{ type: 'ai' }] }, { error: 'e' }]],
])('chunks stay as they came: %s', (_name, create, chunks) => {
  const twice = [...chunks, ...chunks]
  const own = create()
  for (const chunk of twice) own.add(structuredClone(chunk) as JsonObject)
  const given = create()
  for (const chunk of twice) given.add(frozen(chunk))
  expect(JSON.stringify(given.body())).toBe(JSON.stringify(own.body()))
})

/** Changing a frozen object throws. */
function frozen(chunk: object): JsonObject {
  for (const value of Object.values(chunk))
    if (typeof value === 'object' && value !== null) frozen(value as object)
  return Object.freeze(chunk) as JsonObject
}
