import { expect, jest, test } from '@jest/globals'
import { outgrows } from '#tests/support/cpu-growth.ts'
import { rawAnswerJson } from '../record/raw-answer.ts'
import { isChunked, joinPieces } from './join-pieces.ts'

const words = ['The card is 41', '11 1111 1111', ' 1111.']
const whole = 'The card is 4111 1111 1111 1111.'
const sse = (events: readonly unknown[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const rethrow = (error: unknown) => {
  throw error
}
const lines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

test.each<[string, string]>([
  ['llama.cpp', sse(words.map((content, at) => ({ index: 0, content, tokens: [at], stop: false })))],
  ['TGI', sse(words.map((text, at) => ({ index: at, token: { id: at, text, special: false } })))],
  [
    'runs of assistants',
    sse(
      words.map((value) => ({
        id: 'msg_1',
        object: 'thread.message.delta',
        delta: { content: [{ index: 0, type: 'text', text: { value } }] },
      })),
    ),
  ],
  ['Ollama', lines(words.map((content) => ({ model: 'm', message: { role: 'assistant', content } })))],
  ['Ollama, one prompt', lines(words.map((response) => ({ model: 'm', response, done: false })))],
  ['a list', JSON.stringify(words.map((text) => ({ text })))],
  ['texts as JSON', sse(words)],
  ['texts', `${words.map((text) => `data: ${text}\n\n`).join('')}data: [DONE]\n\n`],
])('the texts of %s are joined', (_name, text) => {
  expect(isChunked(text)).toBe(true)
  expect(joinPieces(text)).toEqual([whole])
})

test('choices and kinds of text stand apart, whatever their order', () => {
  const chunk = (index: number, more: object) => ({ id: '4111', parts: [{ index, ...more }] })
  const events = [
    chunk(1, { text: 'b' }),
    chunk(0, { text: 'a', thinking: 'x' }),
    chunk(1, { text: 'B', name: '1' }),
    chunk(0, { text: 'A' }),
  ]
  expect(joinPieces(sse(events))).toEqual(['bB', 'aA', 'x'])
})

test.each([
  ['a list', '[1]', true],
  ['a list that begins with nothing', '[null,"a"]', true],
  ['a list of such lists', '[[null,"a"],[true,"b"]]', true],
  ['a list of lists', '[[1], ["a"]]', true],
  ['a list that was cut off', '[1, -2.5e3, "a', true],
  ['a list that was cut off early', ' [', true],
  ['lists in lines', '[1]\n["a"]\n', true],
  ['an object that was cut off', ' {"a":', true],
  ['objects over several lines', '{\n  "a": 1\n}\n', true],
  ['a comment', ': processing\n\n', true],
  ['a comment before events', ': processing\n\ndata: a', true],
  ['a named event', 'event: x\r\nid: 5\r\ndata: a\r\n\r\n', true],
  ['a number before the data', 'id: 5\ndata: a\n\n', true],
  ['data that was cut off', 'data: a', true],
  ['prose', 'Dear data: hello', false],
  ['prose with a source', '[1] Smith et al. say so.', false],
  ['prose with sources', '[1], [2] and others say so.', false],
  ['prose with a note', '[Note] This is prose.', false],
  ['prose with a link', '[[Notes]] has more.', false],
  ['prose with something left out', '[...] and so on.', false],
  ['prose with a place to fill', '{name}, hello!', false],
  ['prose that begins as a field', 'id: 5 is the one to take.\nTake it.', false],
  ['prose that begins as a name', 'event: the summer party\n\nAll are welcome.', false],
  ['prose that begins with a colon', ':) Hello!', false],
  ['a page', '<html>', false],
  ['nothing', '', false],
])('%s is in pieces or not', (_name, text, expected) => {
  expect(isChunked(text)).toBe(expected)
})

test.each<[string, number, (count: number) => string]>([
  ['deep', 100_000, (count) => `${'[{"text":'.repeat(count)}1`],
  ['a deep list', 200_000, (count) => `${'['.repeat(count)}${']'.repeat(count)}`],
  [
    'deep lines',
    10,
    (count) => lines(Array(count).fill({})).replaceAll('{}', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`),
  ],
  // prettier-ignore
  ['of places', 20_000, (count) => sse(Array.from({ length: count }, (_, at) => ({ [`a${at}`]: { text: 'x' } })))],
  ['of long names', 200, (count) => sse(Array(count).fill({ ['n'.repeat(10_000)]: { text: 'x' } }))],
  ['of colons', 2_000_000, (count) => ':\r\n'.repeat(count)],
  ['of numbers', 1_000_000, (count) => `[${'1,'.repeat(count)}`],
  ['of brackets', 1_000_000, (count) => '[ '.repeat(count)],
  ['of blanks', 2_000_000, (count) => ' '.repeat(count)],
  ['of line breaks', 300_000, (count) => 'data:\n'.repeat(count)],
  ['of braces', 1_000_000, (count) => '{\n'.repeat(count)],
  ['of numbers', 2_000_000, (count) => `[${'0.125,'.repeat(count)}1]`],
  ['of nothing', 2_000_000, (count) => `[${'null,'.repeat(count)}null]`],
  ['of empty lists', 200_000, (count) => `data: [${'[],'.repeat(count)}[]]`],
])('hostile answers cost what their length is worth and give few texts: %s', (_name, count, make) => {
  const read = (text: string) => (isChunked(text) ? joinPieces(text) : [])
  expect(outgrows(count, make, read)).toBe(false)
  expect(joinPieces(make(count)).length).toBeLessThanOrEqual(1_024)
})

test('of lines that are no JSON few are parsed', () => {
  const parse = jest.spyOn(JSON, 'parse')
  expect(joinPieces('{\n'.repeat(10_000))).toEqual([])
  expect(parse.mock.calls.length).toBe(1_000)
  parse.mockRestore()
})

test.each([
  ['', 1_000, { joined: ['ab'] }],
  ['where there is no room for what they amount to', 70, { joined: [] }],
])('an answer in pieces is kept as it came, marked as such %s', (_name, maxBytes, more) => {
  const raw = lines(['{"text":"a"}', '{"text":"b"}'].map((line) => JSON.parse(line) as unknown))
  expect(JSON.parse(rawAnswerJson(raw, maxBytes, rethrow))).toEqual({ raw, encoding: 'utf8', ...more })
})

test.each([
  ['is text', false, {}],
  ['is marked where it was sent as a stream of events', true, { joined: [] }],
])('an answer that begins as no stream %s', (_name, isStream, more) => {
  expect(JSON.parse(rawAnswerJson('x: a\n', 1_000, rethrow, isStream))).toEqual({
    raw: 'x: a\n',
    encoding: 'utf8',
    ...more,
  })
})
