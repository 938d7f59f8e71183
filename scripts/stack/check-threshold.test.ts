import { expect, test } from '@jest/globals'
import { checkThreshold } from './check-threshold.ts'

test.each([
  ['as many failed as may', 9, 1, 0, null, { isKept: true }],
  ['more failed than may', 8, 2, 0, null, { isKept: false }],
  ['as many were judged as not', 5, 0, 5, null, { isKept: true }],
  [
    'fewer were judged than not',
    4,
    0,
    6,
    null,
    { isKept: false, problem: 'only 4 of 10 attempts were judged' },
  ],
  [
    'none was judged and none was tried',
    0,
    0,
    0,
    null,
    { isKept: false, problem: 'only 0 of 0 attempts were judged' },
  ],
  [
    'its budget stopped it',
    10,
    0,
    0,
    'budget',
    { isKept: false, problem: 'stopped before all was tried (10 of 12)' },
  ],
])('where %s', (_name, pass_count, fail_count, unscored_count, stopped_by, wanted) => {
  const counts = { pass_count, fail_count, unscored_count, stopped_by, planned_count: 12 }
  const run = { ...counts, total_probes: pass_count + fail_count + unscored_count }
  expect(checkThreshold(run, 0.1)).toEqual(wanted)
})
