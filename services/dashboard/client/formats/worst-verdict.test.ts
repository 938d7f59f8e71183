import { expect, test } from '@jest/globals'
import { byGravity, worseVerdict, type Verdict } from './worst-verdict.ts'

const medium: Verdict = { label: 'unsafe', severity: 'medium' }
const high: Verdict = { label: 'unsafe', severity: 'high' }
const unscored: Verdict = { label: 'unscored', severity: null }
const safe: Verdict = { label: 'safe', severity: null }
const none: Verdict = { label: null, severity: null }

test.each([
  ['the worse severity', medium, high, high],
  ['the worse label', safe, unscored, unscored],
  ['anything is worse than nothing', none, safe, safe],
])('%s, whichever comes first', (_name, one, other, expected) => {
  expect([worseVerdict(one, other), worseVerdict(other, one)]).toEqual([expected, expected])
})

test('the worst stands first', () => {
  expect([safe, medium, none, high, unscored].sort(byGravity)).toEqual([high, medium, unscored, safe, none])
})
