import { expect, test } from '@jest/globals'
import { plainValue } from './plain-value.ts'
import { createPlainYields } from './plain-yields.ts'

function taken(...values: unknown[]) {
  const yields = createPlainYields((error) => {
    throw error
  })
  for (const value of values) yields.add(value)
  return yields.taken()
}
const listed = (...values: unknown[]) => taken(...values).value

test('an answer that comes in pieces is one text, however many', () => {
  const pieces = Array.from({ length: 3_000 }, (_, index) => `${index} `)
  expect(listed('Mail j', 'ane@exa', 'mple.com', 5, ...pieces)).toEqual([
    'Mail jane@example.com',
    5,
    pieces.join(''),
  ])
  expect(listed(...'\u{1f600}'.split(''))).toEqual(['\u{1f600}'])
})

const lastChunk = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] })

test('chunks of a stream are the message that they amount to, however many', () => {
  const words = Array.from({ length: 1_500 }, (_, index) => `${index} `)
  const chunks = ['4111 1111 ', '1111 1111 ', ...words].map(chunk)
  expect(listed(...chunks)).toMatchObject([
    { choices: [{ message: { role: 'assistant', content: `4111 1111 1111 1111 ${words.join('')}` } }] },
  ])
  expect(chunks[0]).toEqual(chunk('4111 1111 '))
  const parts = ['4111 1111 ', '1111 1111'].map((text) => ({
    candidates: [{ content: { parts: [{ text }] } }],
  }))
  expect(listed(...parts)).toMatchObject([
    { candidates: [{ content: { parts: [{ text: '4111 1111 1111 1111' }] } }] },
  ])
})

test('of Anthropic and of the responses format too', () => {
  const events = [
    { type: 'message_start', message: { type: 'message', content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...['4111 1111 ', '1111 1111'].map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
  ]
  expect(listed(...events)).toMatchObject([{ content: [{ text: '4111 1111 1111 1111' }] }])
  const done = { type: 'response.completed', response: { output_text: 'Hello' } }
  expect(listed({ type: 'response.created', response: {} }, done)).toMatchObject([{ output_text: 'Hello' }])
})

const delta = (text: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
})
const begun = { type: 'message_start', message: { type: 'message', content: [] } }
const item = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] })

test.each<[string, unknown[], object[]]>([
  // prettier-ignore
  ['completions', ['4111 ', '1111'].map((text) => ({ object: 'text_completion', choices: [{ text }] })), [{ choices: [{ text: '4111 1111' }] }]],
  // prettier-ignore
  ['deltas of responses', ['4111 ', '1111'].map((text) => ({ type: 'response.output_text.delta', delta: text })), [{ output: [{ content: [{ text: '4111 1111' }] }] }]],
  // prettier-ignore
  ['a chat with its usage, and what Azure says first', [{ object: '', choices: [], prompt_filter_results: [] }, chunk('a'), { choices: [], usage: { total_tokens: 2 } }], [{ choices: [{ message: { content: 'a' } }], usage: { total_tokens: 2 } }]],
  // prettier-ignore
  ['a chat of whose chunks each has an id of its own', [{ ...chunk('4111 '), id: '1' }, { ...chunk('1111'), id: '2' }, { ...lastChunk, id: '3' }, { choices: [], usage: { total_tokens: 2 }, id: '4' }], [{ choices: [{ message: { content: '4111 1111' } }], usage: { total_tokens: 2 } }]],
  // prettier-ignore
  ["an error of OpenAI's responses", [{ type: 'response.output_text.delta', delta: 'a' }, { type: 'error', code: 'c', message: 'no' }], [{ output: [{ content: [{ text: 'a' }] }] }]],
  // prettier-ignore
  ["verdicts of Azure's filter", [chunk('a'), { choices: [{ index: 0, content_filter_offsets: {} }] }], [{ choices: [{ message: { content: 'a' } }] }]],
  ['pings', [begun, { type: 'ping' }, delta('a')], [{ content: [{ text: 'a' }] }]],
  // prettier-ignore
  ["Bedrock's guardrails", [begun, delta('a'), { type: 'message_stop', 'amazon-bedrock-guardrailAction': 'NONE' }], [{ content: [{ text: 'a' }] }]],
  // prettier-ignore
  ["the usage of Google's", [{ candidates: [{ content: { parts: [{ text: 'a' }] } }] }, { usageMetadata: { totalTokenCount: 2 } }], [{ candidates: [{ content: { parts: [{ text: 'a' }] } }], usageMetadata: { totalTokenCount: 2 } }]],
])('%s amount to a message', (_name, values, expected) => {
  const { value } = taken(...values)
  expect(value).toHaveLength(expected.length)
  expect(value).toMatchObject(expected)
})

test.each<[string, unknown[], object[]]>([
  // prettier-ignore
  ['chats', [{ ...chunk('a'), id: '1' }, { ...lastChunk, id: '1' }, { choices: [], usage: {}, id: '1' }, { ...chunk('b'), id: '2' }], [{ id: '1', choices: [{ message: { content: 'a' } }] }, { id: '2', choices: [{ message: { content: 'b' } }] }]],
  // prettier-ignore
  ['chats whose ends are not passed on', ['a', 'b', 'c', 'd'].map((content, index) => ({ ...chunk(content), id: String(index >> 1) })), [{ choices: [{ message: { content: 'ab' } }] }, { choices: [{ message: { content: 'cd' } }] }]],
  // prettier-ignore
  ['responses and one after an error', [{ type: 'response.output_text.delta', delta: 'a' }, { type: 'error', message: 'no' }, { type: 'response.completed', response: { output: [item('b')] } }], [{ error: { message: 'no' } }, { output: [item('b')] }]],
  // prettier-ignore
  ['messages', [begun, delta('a'), begun, delta('b')], [{ content: [{ text: 'a' }] }, { content: [{ text: 'b' }] }]],
  // prettier-ignore
  ['responses', ['a', 'b'].map((text) => ({ type: 'response.completed', response: { output: [item(text)] } })), [{ output: [item('a')] }, { output: [item('b')] }]],
  // prettier-ignore
  ['items', ['a', 'b'].map((text) => ({ type: 'response.output_item.done', output_index: 0, item: item(text) })), [{ output: [item('a')] }, { output: [item('b')] }]],
  // prettier-ignore
  ['responses that begin late', [{ type: 'response.output_text.delta', delta: 'a' }, { type: 'response.created', response: {} }, { type: 'response.output_item.done', item: item('b') }], [{ output: [{ content: [{ text: 'a' }] }] }, { output: [item('b')] }]],
  // prettier-ignore
  ['chats and messages', [chunk('a'), begun, delta('b')], [{ choices: [{ message: { content: 'a' } }] }, { content: [{ text: 'b' }] }]],
])('of several streams, of %s, each is a message', (_name, values, expected) => {
  expect(listed(...values)).toMatchObject(expected)
})

test.each<[string, unknown[]]>([
  ['chunks with something else among them', [chunk('a'), { note: 'b' }, chunk('c')]],
  ['chunks with text before them', ['a', chunk('c')]],
  ['chunks and one with more than they have', [chunk('a'), { ...chunk('c'), id: 1n }]],
  ['questions', ['1', '2'].map((question) => ({ question, choices: ['4111 1111 1111 1111', 'B'] }))],
  ['questions with no choices', ['1', '2'].map((question) => ({ question, choices: [] }))],
  ['people', [{ candidates: [{ name: 'Ann' }, { name: 'Bob' }] }]],
  [
    'no candidates',
    [
      { candidates: [], round: 'one' },
      { candidates: [], round: 'two' },
    ],
  ],
  ['parts that are texts', [{ candidates: [{ content: { parts: ['a'] } }] }]],
  ['whole answers', ['a', 'b', 'c'].map((content) => ({ id: content, choices: [{ message: { content } }] }))],
  // prettier-ignore
  ["a program's events", ['text', 'completed', 'output_text'].map((name) => ({ type: `response.${name}`, text: name }))],
  ['ends of texts alone', [{ type: 'response.output_text.done', item_id: 'msg_1', text: 'a' }]],
  // prettier-ignore
  ['deltas of one kind and ends of another', [{ type: 'response.output_text.delta', delta: 'a' }, { type: 'response.function_call_arguments.done', item_id: 'fc_1', arguments: 'b' }]],
  ['deltas of what has no place', [{ type: 'response.sketch.delta', item_id: 'msg_1', delta: 'a' }]],
  ['deltas of a message that never began', [delta('a'), begun, delta('b')]],
  ['a message without a type', [{ type: 'message_start', message: {} }, delta('a')]],
  // prettier-ignore
  ['deltas of a kind that is not known', [begun, { type: 'content_block_delta', delta: { type: 'word', word: 'a' } }]],
  // prettier-ignore
  ['a message that has begun with words', [{ type: 'message_start', message: { type: 'human', content: '4111 1111' } }, delta('b')]],
  [
    'two errors',
    [begun, { type: 'error', error: { message: 'a' } }, { type: 'error', error: { message: 'b' } }],
  ],
  ['an end that says something', [begun, delta('a'), { type: 'message_stop', text: '4111 1111' }]],
  ['a ping that says something', [begun, { type: 'ping', text: 'a' }]],
])('%s are listed as they came', (_name, values) => {
  expect(taken(...values)).toEqual({ value: plainValue(values), isCut: false })
})

test('chunks among which one throws when it is read are listed', () => {
  expect(listed(chunk('a'), { get choices() { throw new Error('no') } })).toHaveLength(2) // prettier-ignore
})

test('what is too long or too much is cut, and says so', () => {
  const long = `${'x'.repeat(65_535)}\u{1f600}`
  expect(listed(long, 'y', 1)).toEqual([`${'x'.repeat(65_535)}… (3 more characters)`, 1])
  expect(listed('x'.repeat(65_536), 'y')).toEqual([`${'x'.repeat(65_536)}… (1 more characters)`])
  const halves = ['x'.repeat(65_535), ...'\u{1f600}'.split('')]
  expect(listed(...halves)).toEqual([`${'x'.repeat(65_535)}… (2 more characters)`])
  const numbers = Array.from({ length: 1_200 }, (_, index) => index)
  expect(listed(...numbers)).toEqual([...numbers.slice(0, 1_000), '[200 more]'])
  const texts = Array.from({ length: 40 }, () => ['x'.repeat(60_000), 1]).flat()
  expect(JSON.stringify(listed(...texts)).length).toBeLessThan(1_200_000)
})

test('of streams that come to more than is read the ones before are messages', () => {
  const long = chunk('x'.repeat(60_000))
  const turn = [chunk('4111 '), chunk('1111'), lastChunk].map((one) => ({ ...one, id: '1' }))
  const rest = Array<object>(600).fill({ ...long, id: '2' })
  expect(taken(...turn, ...rest)).toMatchObject({
    value: [{ choices: [{ message: { content: '4111 1111' } }] }, { id: '2' }],
    isCut: true,
  })
  const many = Array.from({ length: 1_100 }, (_, index) => ({ ...lastChunk, id: String(index) }))
  expect(taken(...turn, ...many)).toMatchObject({ value: { length: 1_000 }, isCut: true })
})

test.each<[string, boolean, unknown[]]>([
  ['values too many', true, Array(1_001).fill(1)],
  ['a text too long', true, ['x'.repeat(65_536), 'y']],
  ['a value too long', true, [['x'.repeat(65_537)]]],
  ['a message too long', true, [chunk('x'.repeat(60_000)), chunk('y'.repeat(60_000))]],
  ['what is whole', false, ['x', 1, { y: 'z' }]],
  ['a whole message', false, Array(2_000).fill(chunk('x'))],
])('of %s it is known whether they were cut: %s', (_name, isCut, values) => {
  expect(taken(...values).isCut).toBe(isCut)
})
