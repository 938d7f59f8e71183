import { expect, test } from '@jest/globals'
import { createLinesEnd } from './lines-end.ts'

const word = '{"model":"m","message":{"content":"Hi"},"done":false}\n'
const last = '{"model":"m","message":{"content":"é"},"done":true,"context":[1,2]}\n'

/** Sizes of chunks, and the chunk that ends the lines. */
test.each([
  ['the last line', [word, last], 1],
  ['several lines in one chunk', [word + word + last], 0],
  ['a last line in parts', [word, last.slice(0, 30), last.slice(30, -1), '\n'], 3],
  ['the end of one line with the whole last one', [word.slice(0, 9), word.slice(9) + last], 1],
  ['a last line and an empty one', [word, last.slice(0, -1), '\r\n\n'], 2],
  ['an error', [word, '{"error":"out of memory"}\n'], 1],
  ['lines after each other, none the last', [word, word, '\n'], -1],
  ['a last line that is not finished', [word, last.slice(0, -1)], -1],
  [
    'the same words of a model and of a tool',
    [
      `{"message":{"content":${JSON.stringify(last)}},"done":false}\n`,
      '{"message":{"tool_calls":[{"function":{"arguments":{"done":true,"error":"x"}}}]},"done":false}\n',
    ],
    -1,
  ],
  ['no JSON', ['"done":true\n', '{"done":true\n'], -1],
])('%s', (_name, chunks, at) => {
  const isLast = createLinesEnd()
  expect(chunks.findIndex((chunk) => isLast(Buffer.from(chunk)))).toBe(at)
})

test('a line without an end takes no memory beyond its bound, and the next one is read', () => {
  const isLast = createLinesEnd()
  for (let part = 0; part < 40; part++) expect(isLast(Buffer.alloc(2 ** 16, 'x'))).toBe(false)
  expect(isLast(Buffer.from('\n'))).toBe(false)
  expect(isLast(Buffer.from(last))).toBe(true)
})

test('a character that is split does not matter', () => {
  const isLast = createLinesEnd()
  const bytes = Buffer.from(last)
  const inside = bytes.indexOf('é') + 1
  expect([isLast(bytes.subarray(0, inside)), isLast(bytes.subarray(inside))]).toEqual([false, true])
})
