import { expect, test } from '@jest/globals'
import { classOfReason } from './unscored.ts'

test.each([
  ['no_context', 'not_applicable'],
  ['detectors_undecided', 'undecided'],
  ['language_not_covered', 'outside'],
  ['budget_spent', 'not_read'],
  ['of a later version', 'not_read'],
  ['constructor', 'not_read'],
])('%s is %s', (reason, expected) => {
  expect(classOfReason(reason)).toBe(expected)
})
