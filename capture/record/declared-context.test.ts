import { expect, test } from '@jest/globals'
import { declaredContext, isDeclared, readContextHeader, withDeclaredContext } from './declared-context.ts'

test.each<[string, string, string[] | undefined]>([
  ['indexes and pointers', '1, 12,/input/0/content', ['1', '12', '/input/0/content']],
  ['an escaped pointer', '/a~1b/c~0d', ['/a~1b/c~0d']],
  ['2,048 bytes', `/${'x'.repeat(2_047)}`, [`/${'x'.repeat(2_047)}`]],
  ['2,049 bytes', `/${'x'.repeat(2_048)}`, undefined],
  ['101 places', Array(101).fill('1').join(), undefined],
  ['nothing', '', undefined],
  ['an empty place', '1,,2', undefined],
  ['a negative index', '-1', undefined],
  ['an index with a zero before it', '01', undefined],
  ['a name', 'messages', undefined],
  ['a wrong escape', '/a~2', undefined],
])('a header of %s', (_name, header, places) => {
  expect(readContextHeader(header)).toEqual(places)
})

test.each<[string, readonly string[], boolean]>([
  ['/messages/1', ['1'], true],
  ['/messages/1/content/0/text', ['1'], true],
  ['/messages/10', ['1'], false],
  ['/input/1/content', ['1'], true],
  ['/contents/1/parts/0/text', ['1'], true],
  ['/messages/1/content', ['/messages'], true],
  ['/messages/1/content', ['/messages/1/content'], true],
  ['/messages/1/content', ['/messages/1/cont'], false],
  ['/system', ['0', '1'], false],
])('%s by %j: %s', (at, places, isIn) => {
  expect(isDeclared(at, places)).toBe(isIn)
})

test('travels in metadata, beside what the application put there', () => {
  const metadata = withDeclaredContext({ team: 'x' }, ['1'])
  expect(metadata).toEqual({ team: 'x', 'sluice.context': ['1'] })
  expect(declaredContext(JSON.stringify(metadata))).toEqual(['1'])
  expect(withDeclaredContext(null, null)).toBeNull()
})

test.each([
  ['no metadata', null],
  ['other metadata', '{"team":"x"}'],
  ['another form', '{"sluice.context":"messages"}'],
  ['too many places', JSON.stringify({ 'sluice.context': Array(101).fill(1) })],
])('%s declares nothing', (_name, metadata) => {
  expect(declaredContext(metadata)).toEqual([])
})
