import { expect, test } from '@jest/globals'
import { objectOf, parseJson, type JsonObject } from '../json.ts'
import { assembleStream } from './assemble-stream.ts'
import { createChatAssembly } from './chat-assembly.ts'
import { createMessageAssembly } from './message-assembly.ts'
import { createRepeatedChunks } from './repeated-chunks.ts'
import type { StreamAssembly } from './stream-assembly.ts'

const chat = (content: unknown, more: object = {}, choice: object = {}) =>
  JSON.stringify({
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: null, ...choice }],
    ...more,
  })
const block = (text: string, more: object = {}) =>
  JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text, ...more } })

/** Parses and adds every chunk. */
function assembled(assembly: StreamAssembly, chunks: readonly string[]): JsonObject {
  for (const chunk of chunks) assembly.add(objectOf(parseJson(chunk)) ?? {})
  return assembly.body()
}

const streams: Readonly<Record<string, string[]>> = {
  'words, quotes, line breaks': ['The', ' "end"', '\n', ' is\\', ' é 🐟', '', ' near'].map((text) =>
    chat(text),
  ),
  'escapes of the writer': [
    chat('a'),
    chat('b'),
    chat('c').replace('"c"', '"\\u00e9\\ud83d\\ude00"'),
    chat('d'),
  ],
  'a text like a name': ['content', 'content', 'index', 'id', 'c1', 'm'].map((text) => chat(text)),
  'the text that is tried': ['sluice-probe', 'sluice-probe', 'x', 'sluice-probe'].map((text) => chat(text)),
  'JSON in a text': ['{', '","x":"', '"}', 'y","content":"z', 'w'].map((text) => chat(text)),
  'a field that changes and comes back': [
    chat('a'),
    chat('b'),
    chat('c', { model: 'n' }),
    chat('d', { model: 'n' }),
    chat('e'),
    chat('f'),
  ],
  'two choices in turn': [0, 1, 0, 0, 1, 1, 0].map((index) => chat(`${index}`, {}, { index })),
  padding: ['a', 'b', 'c', 'd'].map((text) =>
    chat(text, { obfuscation: 'x'.repeat(text.charCodeAt(0) % 5) }),
  ),
  'padding that is a text': ['a', ',"obfuscation":"x"}', 'b', '"obfuscation":"x"}'].map((text) => chat(text)),
  'log probabilities': ['a', 'b', 'c'].map((text) =>
    chat(text, {}, { logprobs: { content: [{ token: text }] } }),
  ),
  'another text beside it': ['a', 'b'].map((text) =>
    chat(text, {}, { delta: { content: text, reasoning: 'r' } }),
  ),
  'a name given twice': ['a', 'b', 'c'].map((text) =>
    chat(text).replace('"content":', '"content":"a","content":'),
  ),
  'cut in the middle of a text': [chat('a'), chat('b'), chat('c').slice(0, -20), chat('d')],
  'no text': [chat(null), chat('a'), chat(null), chat('b'), chat('c'), chat(7), chat('d')],
}

test.each(Object.entries(streams))('the same message comes out: %s', (_name, chunks) => {
  const text = chunks.map((chunk) => `data: ${chunk}\n\n`).join('')
  expect(assembleStream(text)?.body).toEqual(assembled(createChatAssembly(), chunks))
})

test('the same message comes out: blocks of text', () => {
  const start = JSON.stringify({ type: 'message_start', message: { type: 'message', role: 'assistant' } })
  const begun = JSON.stringify({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  })
  const chunks = [
    start,
    begun,
    ...['a', ' "b"', '\n', 'c'].map((text) => block(text)),
    block('d', { thinking: 't' }),
    block('e'),
  ]
  const text = chunks.map((chunk) => `event: x\ndata: ${chunk}\n\n`).join('')
  expect(assembleStream(text)?.body).toEqual(assembled(createMessageAssembly(), chunks))
})

test('all but the first of like chunks are taken; one that differs is not', () => {
  const assembly = createChatAssembly()
  const repeated = createRepeatedChunks()
  const first = chat('a')
  assembly.add(objectOf(parseJson(first)) ?? {})
  repeated.learn(first, objectOf(parseJson(first)) ?? {}, assembly)
  const taken = [chat('b'), chat('\n"'), chat('c', { model: 'n' })].map((chunk) =>
    repeated.addIfRepeated(chunk),
  )
  expect(taken).toEqual([true, true, false])
})
