import { expect, test } from '@jest/globals'
import { isKeptWhole, piecesOf } from './call-text.ts'

test.each([1, 65_536, 65_537, 126_976, 200_000])(
  'a text of %i units is read to its end in pieces, what is 4,096 long whole in one of them',
  (length) => {
    const text = Array.from({ length }, (_, at) => String.fromCharCode(97 + ((at * at) % 26))).join('')
    const pieces = [...piecesOf({ text, offset: 5 })]
    for (const piece of pieces) expect(text.startsWith(piece.text, piece.offset - 5)).toBe(true)
    const holding = (start: number, end: number) =>
      pieces.filter(({ text: { length: units }, offset }) => offset - 5 <= start && end <= offset - 5 + units)
    for (let start = 0; start < length; start += 512)
      expect(holding(start, Math.min(length, start + 4_096))).not.toHaveLength(0)
    expect(pieces.at(-1)?.text.at(-1)).toBe(text.at(-1))
  },
)

test.each([
  ['an object', { messages: [] }, true],
  ['text that was no JSON', { raw: 'hello', encoding: 'utf8' }, true],
  ['prose', { raw: 'I think: [yes] {no}', encoding: 'utf8' }, true],
  ['a stream that nobody assembled', { raw: 'data: {"content":"a"}\n\n', encoding: 'utf8' }, false],
  ['JSON lines', { raw: '{"content":"a"}\n{"content":"b"}', encoding: 'utf8' }, false],
  ['a list', { raw: ' [{"content":"a"}]', encoding: 'utf8' }, false],
  ['a stream whatever it begins with', { raw: 'x: a\n', encoding: 'utf8', joined: [] }, false],
  ['an object of such names', { raw: '[', joined: ['a'] }, true],
  ['bytes', { raw: 'AAE=', encoding: 'base64' }, false],
  ['what was cut', { truncated: true, text: '{' }, false],
])('%s is kept whole or not', (_name, kept, isWhole) => {
  expect(isKeptWhole(kept)).toBe(isWhole)
})
