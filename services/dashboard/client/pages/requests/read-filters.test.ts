import { expect, test } from '@jest/globals'
import { choosing } from './read-filters.ts'

test.each([
  [
    'a scorer among what is pending',
    { label: 'pending' },
    'scorer_name',
    'a',
    { label: undefined, scorer_name: 'a' },
  ],
  [
    'a severity among what is pending',
    { label: 'pending' },
    'severity',
    'high',
    { label: undefined, severity: 'high' },
  ],
  ['a scorer among what is unsafe', { label: 'unsafe' }, 'scorer_name', 'a', { scorer_name: 'a' }],
  [
    'what is pending of a scorer',
    { scorer_name: 'a', model: 'm' },
    'label',
    'pending',
    { label: 'pending', scorer_name: undefined, severity: undefined },
  ],
  ['a model among what is pending', { label: 'pending' }, 'model', 'm', { model: 'm' }],
])('%s', (_name, filters, name, value, changes) => {
  expect(choosing(filters as Record<string, string>, name, value)).toEqual(changes)
})
