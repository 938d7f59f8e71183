import { expect, test } from '@jest/globals'
import { cutByEvidence, readEvidence, type ScoredEvidence } from './mark-evidence.ts'

const at = (start: number, end: number, scorer = 'a'): ScoredEvidence => ({
  part: 'request_body',
  pointer: '/x',
  start,
  end,
  kind: 'k',
  scorer,
})

test.each([
  ['none', [], ['abcdef']],
  ['one in the middle', [at(2, 4)], ['ab', 'cd:a', 'ef']],
  ['overlapping', [at(0, 4, 'a'), at(2, 6, 'b')], ['ab:a', 'cd:ab', 'ef:b']],
  ['beyond the end', [at(4, 99)], ['abcd', 'ef:a']],
  ['before the beginning', [at(-3, 1)], ['a:a', 'bcdef']],
  ['turned round', [at(4, 2)], ['ab', 'cd', 'ef']],
])('%s', (_name, evidence, expected) => {
  const segments = cutByEvidence('abcdef', evidence)
  expect(
    segments.map(({ text, evidence: found }) =>
      [text, found.map(({ scorer }) => scorer).join('')].filter(Boolean).join(':'),
    ),
  ).toEqual(expected)
})

test('an empty text has nothing to show', () => {
  expect(cutByEvidence('', [at(0, 4)])).toEqual([])
})

test('takes evidence of our form alone', () => {
  const own = { part: 'request_body', pointer: null, start: 0, end: 1, kind: 'k' }
  expect(readEvidence([own, { at: 1 }, null, 'x', { ...own, start: '0' }])).toEqual([own])
  expect(readEvidence({ at: 1 })).toEqual([])
})
