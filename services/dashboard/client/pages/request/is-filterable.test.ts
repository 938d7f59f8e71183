import { expect, test } from '@jest/globals'
import { isFilterable } from './is-filterable.ts'

test.each([
  ['text', 'tenant', 'acme', true],
  ['a number', 'attempt', 2, true],
  ['a boolean', 'beta', false, true],
  ['no text', 'tenant', '', false],
  ['the longest text', 'tenant', 'x'.repeat(1_024), true],
  ['longer text', 'tenant', 'x'.repeat(1_025), false],
  ['a longer name', 'x'.repeat(248), 'acme', false],
  ['an object', 'order', { id: 1 }, false],
  ['a list', 'tags', ['a'], false],
  ['null', 'tenant', null, false],
])('%s', (_name, name, value, expected) => {
  expect(isFilterable(name, value)).toBe(expected)
})
