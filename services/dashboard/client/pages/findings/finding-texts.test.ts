import { expect, test } from '@jest/globals'
import { ageOf, describeChange, placeOf, titleOf } from './finding-texts.ts'

test.each([
  ['minutes', '2026-11-01T00:20:00Z', '20 min of 4 hr'],
  ['hours', '2026-11-01T03:30:00Z', '3.5 hr of 4 hr'],
  ['days', '2026-11-04T05:00:00Z', '3 days of 4 hr'],
  ['a clock that is behind', '2026-10-31T23:00:00Z', '1 min of 4 hr'],
])('the age in %s', (_name, now, age) => {
  const finding = { opened_at: '2026-11-01T00:00:00Z', due_at: '2026-11-01T04:00:00Z' }
  expect(ageOf(finding, Date.parse(now))).toBe(age)
})

test('who need not act has no age', () => {
  expect(ageOf({ opened_at: '2026-11-01T00:00:00Z', due_at: null }, Date.now())).toBe('–')
})

test('what was found, and where', () => {
  expect(titleOf({ scorer_name: 'pii_detection', evidence_kind: 'iban' })).toBe('pii_detection: iban')
  expect(titleOf({ scorer_name: 'bias', evidence_kind: null })).toBe('bias')
  expect(placeOf({ agent_name: 'bot', tool_name: 'search' })).toBe('bot · tool search')
  expect(placeOf({ agent_name: null, tool_name: null })).toBe('No agent')
})

test('a change of the history in words', () => {
  const before = { state: 'open', muted_until: null, owner: null } as const
  const owner = { id: 'per_1', login: 'ana' }
  const owned = { ...before, owner }
  const muted = { ...before, state: 'muted', muted_until: 'x' } as const
  expect(describeChange({ before, after: owned, lost_owner: null })).toBe('owner ana')
  expect(describeChange({ before: owned, after: muted, lost_owner: null })).toBe(
    'Open → Muted, with an end, no owner',
  )
  expect(describeChange({ before: owned, after: before, lost_owner: 'bea' })).toBe(
    'no owner, bea no longer sees the project',
  )
})
