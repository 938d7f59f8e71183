import { expect, test } from '@jest/globals'
import { chooseStretches, cutByEvidence, readEvidence, type ScoredEvidence } from './mark-evidence.ts'

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

test('the beginning of each piece of evidence is known, also of one within another', () => {
  const segments = cutByEvidence('abcdef', [at(-3, 6, 'a'), at(2, 3, 'b')])
  expect(segments.map(({ begins }) => begins?.scorer)).toEqual(['a', 'b', undefined])
})

test.each([
  ['a short text', 20_000, [at(0, 4)], [[0, 20_000]]],
  ['a long one', 1_000_000, [at(0, 4)], [[0, 20_000]]],
  [
    'evidence far in it',
    1_000_000,
    [at(500_000, 500_010)],
    [
      [0, 20_000],
      [499_500, 500_510],
    ],
  ],
  [
    'evidence that stands together',
    1_000_000,
    [at(30_900, 30_950), at(30_000, 30_100)],
    [
      [0, 20_000],
      [29_500, 31_450],
    ],
  ],
  ['evidence right behind the beginning', 1_000_000, [at(20_100, 20_200)], [[0, 20_700]]],
  [
    'evidence that is long itself',
    1_000_000,
    [at(400_000, 999_999)],
    [
      [0, 20_000],
      [399_500, 402_500],
    ],
  ],
  [
    'evidence at the end',
    100_000,
    [at(99_990, 100_010)],
    [
      [0, 20_000],
      [99_490, 100_000],
    ],
  ],
  ['evidence beyond the end', 100_000, [at(100_000, 100_010)], [[0, 20_000]]],
])('at first is shown of %s', (_name, length, evidence, expected) => {
  expect(chooseStretches(length, evidence).map(({ start, end }) => [start, end])).toEqual(expected)
})

test('an empty text has nothing to show', () => {
  expect(cutByEvidence('', [at(0, 4)])).toEqual([])
})

test('takes evidence of our form alone', () => {
  const own = { part: 'request_body', pointer: null, start: 0, end: 1, kind: 'k' }
  expect(readEvidence([own, { at: 1 }, null, 'x', { ...own, start: '0' }])).toEqual([own])
  expect(readEvidence({ at: 1 })).toEqual([])
})
