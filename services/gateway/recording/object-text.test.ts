import { expect, test } from '@jest/globals'
import { beginsAsObject, objectText } from './object-text.ts'

const utf16 = (text: string) => Buffer.from(text, 'utf16le')

test.each<[string, Buffer, boolean]>([
  ['an object', Buffer.from('{"a": 1}'), true],
  ['an empty one', Buffer.from(' { } '), true],
  ['an object in UTF-16', utf16('{"a": 1}'), true],
  ['one behind a byte order mark', Buffer.from('\ufeff{"a": 1}'), true],
  ['one behind more blanks than are looked at first', Buffer.from(`${' '.repeat(1_000)}{"a": 1}`), true],
  ['the same in UTF-16', utf16(`${' '.repeat(1_000)}{"a": 1}`), true],
  ['blanks of three bytes, one of them cut', Buffer.from(` ${'\u3000'.repeat(300)}{"a": 1}`), true],
  ['a name far behind the brace', Buffer.from(`{${'\n'.repeat(1_000)}"a": 1}`), true],
  ['blanks alone', Buffer.from(' '.repeat(1_000)), false],
  ['a brace and no name', Buffer.from(`{${' '.repeat(1_000)}a`), false],
  ['other text', Buffer.from(' [1]'), false],
  ['what is compressed', Buffer.from([0x1f, 0x8b, 8]), false],
  ['nothing', Buffer.alloc(0), false],
])('%s begins as an object or not: the same without the rest', (_name, bytes, is) => {
  expect(beginsAsObject(bytes)).toBe(is)
  expect(objectText(bytes) !== undefined).toBe(is)
})
