import { expect, test } from '@jest/globals'
import { readStanding } from './read-standing.ts'

const score = (expected_label: 'safe' | 'unsafe' | null, is_suppressed = false) => ({
  scorer_name: 'pii_detection',
  severity: 'high' as const,
  kind: null,
  is_suppressed,
  expected_label,
})

test.each([
  ['nothing was found', [], undefined],
  ['nobody has looked', [score(null)], undefined],
  ['somebody disagrees', [score('safe')], 'false alarm'],
  ['a suppression covers it', [score(null, true)], 'false alarm'],
  ['somebody agrees with what is suppressed', [score('unsafe', true)], 'confirmed'],
  ['one of two is a false alarm', [score('safe'), score(null)], 'partly false alarm'],
  ['somebody agrees', [score('unsafe'), score(null)], 'confirmed'],
] as const)('%s', (_name, scores, expected) => {
  expect(readStanding({ unsafe_scores: [...scores] })).toBe(expected)
})
