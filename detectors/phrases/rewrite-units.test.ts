import { expect, test } from '@jest/globals'
import { backwards, rot13 } from './rewrite-units.ts'

test.each([
  ['', ''],
  ['Hello, Nzé 1!', 'Uryyb, Amé 1!'],
  ['😀 ok \ud800', '😀 bx \ud800'],
])('rot13 of %j', (text, moved) => {
  expect(rot13(text)).toBe(moved)
  expect(rot13(moved)).toBe(text)
})

test.each(['', 'abc', 'a😀b', '😀😁', '\ud800a\udc00', '\ud800\ud800\udc00\udc00', 'é你'])(
  '%j backwards, character by character',
  (text) => {
    expect(backwards(text)).toBe(Array.from(text).reverse().join(''))
  },
)
