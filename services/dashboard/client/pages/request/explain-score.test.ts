import { expect, test } from '@jest/globals'
import { explainScore } from './explain-score.ts'

test.each([
  ['a verdict by its rationale', null, 'Names a card.', 'Names a card.'],
  [
    'what is unscored by its reason, once',
    'no_text',
    'The call has no text.',
    /^The call has no text of the kind/,
  ],
  ['a reason of a newer scorer in its words', 'moon_phase', 'The moon was full.', 'The moon was full.'],
  ['one without words by its name', 'moon_phase', null, 'moon_phase'],
])('says why: %s', (_name, reason, rationale, expected) => {
  expect(explainScore({ reason, rationale })).toMatch(expected)
})
