import { expect, test } from '@jest/globals'
import { splitSegments } from './split-segments.ts'

const texts = (text: string) => Array.from(splitSegments(text), (segment) => segment.text)

test.each([
  [
    'sentences',
    'The first one is here. The second one follows!',
    ['The first one is here.', 'The second one follows!'],
  ],
  [
    'lines and cells',
    'one line of text\nanother line | a cell of a table',
    ['one line of text', 'another line', 'a cell of a table'],
  ],
  ['values of data', '{"review": "A good product, truly", "rating": 5}', ['A good product, truly']],
  ['markup', '<p>A paragraph here</p><b>and bold text</b>', ['A paragraph here', 'and bold text']],
])('%s', (_name, text, segments) => {
  expect(texts(text)).toEqual(segments)
})

test('offsets lead back into the text, and a long one is cut', () => {
  const text = `  A sentence that starts late.\n${'word '.repeat(300)}`
  const segments = Array.from(splitSegments(text))
  for (const { text: said, start, end } of segments) expect(text.slice(start, end)).toBe(said)
  expect(segments.length).toBe(4)
})

test('hostile text makes no more pieces than it has room for', () => {
  for (const unit of ['.', '. ', '"', "'}", '<a>', '|', '{"', '\n', '! )'])
    expect(texts(unit.repeat(50_000)).length).toBeLessThanOrEqual(100_000 / 12)
})
