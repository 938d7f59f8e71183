import { expect, test } from '@jest/globals'
import { parseServerSentEvents } from './server-sent-events.ts'

const dataOf = (stream: string) => parseServerSentEvents(stream).map(({ data }) => data)

test.each([
  ['lines end in line feeds', '\n'],
  ['lines end in carriage returns', '\r'],
  ['lines end in both', '\r\n'],
])('events are read where %s, behind a byte order mark; a name is of one event alone', (_name, end) => {
  const lines = ['event: first', 'data: a', 'data: b', '', 'data:c', '', 'data: cut off']
  expect(parseServerSentEvents(`\ufeff${lines.join(end)}`)).toEqual([
    { name: 'first', data: 'a\nb' },
    { name: '', data: 'c' },
  ])
})

test.each([
  ['without a line break', 'data: {"a":1}', ['{"a":1}']],
  ['without its blank line', 'data: {"a":1}\n', ['{"a":1}']],
  ['of several lines', 'data: {\ndata: "a":1}', ['{\n"a":1}']],
  ['that is the end mark', 'data: [DONE]', ['[DONE]']],
  ['that is cut off', 'data: {"a":', []],
  ['that may go on', 'data: 12', []],
  ['that may go on below', 'data: 12\n', []],
  ['of several lines that is cut off', 'data: {\ndata: "a":', []],
])('the last event %s', (_name, end, expected) => {
  expect(dataOf(`data: x\n\n${end}`)).toEqual(['x', ...expected])
})

test('a name is of the last event too', () => {
  expect(parseServerSentEvents('event: a\ndata: {}')).toEqual([{ name: 'a', data: '{}' }])
})

test.each([
  ['whole', 'data: {"a":1}\ndata: {"a":2}\ndata: [DONE]\n\n', ['{"a":1}', '{"a":2}', '[DONE]']],
  ['without a blank line', 'data: {"a":1}\ndata: {"a":2}\n', ['{"a":1}', '{"a":2}']],
  ['cut off', 'data: {"a":1}\ndata: {"a":2}\ndata: {"a"', ['{"a":1}', '{"a":2}']],
  ['cut off behind a brace', 'data: {"a":1}\ndata: {"a":{}', ['{"a":1}']],
])('events with single line breaks between them are events of their own: %s', (_name, stream, expected) => {
  expect(dataOf(stream)).toEqual(expected)
})

test('one object on several lines is one event', () => {
  expect(dataOf('data: {"a":\ndata: {"b":1}\ndata: }\n\n')).toEqual(['{"a":\n{"b":1}\n}'])
})
