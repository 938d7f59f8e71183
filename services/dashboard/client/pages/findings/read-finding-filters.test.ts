import { expect, test } from '@jest/globals'
import { choicesOf, queryOf, readChoice, readFilters, readState } from './read-finding-filters.ts'

test('the address says the filters; the state is open unless it says otherwise', () => {
  const texts = { severity: 'high', page: '2', owner: undefined, state: 'muted' }
  expect(readFilters(texts)).toEqual({ severity: 'high' })
  expect([readState(texts), readState({}), readState({ state: 'x' })]).toEqual(['muted', 'open', 'open'])
  expect(queryOf({ severity: 'high' }, 'all')).toEqual({ severity: 'high' })
  expect(queryOf({}, readState({}))).toEqual({ state: 'open' })
})

test('the field offers what there is, with counts, and a chosen value keeps what it contains', () => {
  const one = (value: string) => [{ value, count: 2 }]
  const facets = {
    ...{ findings: 2, overdue: 1, state: one('open'), severity: one('high'), owner: [] },
    ...{ scorer_name: one('pii_detection'), agent_name: one('a=\u200Bb'), tool_name: [] },
  }
  const choices = choicesOf(facets, { id: 'per_1' })
  expect(choices.map(({ group }) => group)).toEqual(['Severity', 'Scorer', 'Agent', 'Work'])
  const agent = choices[2]?.items[0]
  expect(agent?.label).not.toContain('\u200B')
  expect(readChoice(agent?.value ?? '')).toEqual({ agent_name: 'a=\u200Bb' })
  expect(choices[3]?.items.map(({ value }) => value)).toEqual(['overdue=true', 'owner=per_1'])
  expect(choicesOf(undefined, undefined)).toEqual([])
})
