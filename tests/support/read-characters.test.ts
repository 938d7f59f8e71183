import { expect, test } from '@jest/globals'
import { charactersRead, unitsReadTooOften } from './read-characters.ts'

test('counts characters that patterns and searches read, the same each time', () => {
  expect(charactersRead(() => /b/.test('aaab'))).toBe(5)
  expect(charactersRead(() => 'aaab'.indexOf('b', 2))).toBe(2)
  expect(charactersRead(() => 'aaab'.includes('c'))).toBe(5)
  expect(charactersRead(() => 'ab'.charCodeAt(1) + 'ab'.charAt(0).length)).toBe(2)
  const all = () => 'a1b2c3'.replaceAll(/\d/g, '')
  expect(charactersRead(all)).toBe(charactersRead(all))
  expect('a1b2c3'.replaceAll(/\d/g, '')).toBe('abc')
})

test('distinguishes work that rereads the rest at each match from work that reads once', () => {
  const once = (text: string) => text.match(/a/g)
  const restAnew = (text: string) => [...text.matchAll(/a/g)].map(({ index }) => /b/.test(text.slice(index)))
  const fromStart = (text: string) => [...text.matchAll(/a/g)].map(({ index }) => text.includes('b', index))
  expect(unitsReadTooOften(['a', 'a '], 8_192, once)).toEqual([])
  expect(() => unitsReadTooOften(['a'], 8_192, () => undefined)).toThrow('only 0 of 8192 characters are read')
  expect(unitsReadTooOften(['a', 'c'], 8_192, restAnew)).toEqual(['a'])
  expect(unitsReadTooOften(['a', 'c'], 8_192, fromStart)).toEqual(['a'])
})
