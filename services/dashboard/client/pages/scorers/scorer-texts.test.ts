import { expect, test } from '@jest/globals'
import { definitionOf, fieldOfPath, valuesOf, type Definition, type ProjectScorer } from './scorer-texts.ts'

const definitions: Definition[] = [
  { kind: 'keyword_list', keywords: ['project falcon', 'bluebird'], match_on: 'response_body' },
  { kind: 'regex', patterns: ['order \\d+'], match_on: 'tool_arguments' },
  {
    kind: 'criterion',
    criterion: 'It promises a refund.',
    unsafe_examples: ['Money back.'],
    safe_examples: [],
    looks_at: ['answer'],
    sees: ['context'],
  },
]

test.each(definitions)('a $kind that is opened and saved stays as it was', (definition) => {
  const scorer = { name: 'a', description: null, severity: 'high', definition } as ProjectScorer
  expect(definitionOf(valuesOf(scorer), definition)).toEqual(definition)
})

test('lines without a word are left out', () => {
  const values = { ...valuesOf(undefined), terms: 'falcon\n\n  \nbluebird\n' }
  expect(definitionOf(values, undefined)).toMatchObject({ keywords: ['falcon', 'bluebird'] })
})

test.each([
  ['name', 'name'],
  ['definition.patterns.3', 'terms'],
  ['definition', 'terms'],
  ['definition.safe_examples.0', 'safe'],
  ['definition.criterion', 'criterion'],
  ['', undefined],
])('an error at "%s" is shown at %s', (path, field) => {
  expect(fieldOfPath(path)).toBe(field)
})
