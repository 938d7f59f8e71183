import { expect, test } from '@jest/globals'
import { findingStates, type FindingState } from './event-data.ts'
import { eventOfChange, findingId, mayChange, opensAgain, type FindingEvent } from './finding.ts'
import { newId } from './ids.ts'

const nowMs = 1_800_000_000_000
const at = (ms: number) => new Date(nowMs + ms)

test.each<[FindingState, Date | null, boolean]>([
  ['open', null, false],
  ['acknowledged', null, false],
  ['resolved', null, true],
  ['false_alarm', null, false],
  ['muted', at(1), false],
  ['muted', at(0), true],
  ['muted', at(-1), true],
])('another failing score on a finding that is %s until %p: %p', (state, muted_until, again) => {
  expect(opensAgain({ state, muted_until }, nowMs)).toBe(again)
})

/** Rows: from; columns: open, acknowledged, resolved, false_alarm, muted. '-': refused, '.': no event. */
const table: Readonly<Record<FindingState, string>> = {
  open: '. a r r .',
  acknowledged: '. . r r .',
  resolved: 'o - . . -',
  false_alarm: 'o - . . -',
  muted: '. a r r .',
}
const events: Readonly<Record<string, FindingEvent | null>> = {
  a: 'finding_acknowledged',
  r: 'finding_resolved',
  o: 'finding_reopened',
  '.': null,
}

test.each(findingStates.flatMap((from) => findingStates.map((to, index) => [from, to, index] as const)))(
  'a person changes %s to %s',
  (from, to, index) => {
    const mark = table[from].split(' ')[index] ?? ''
    expect(mayChange(from, to)).toBe(mark !== '-')
    if (mark !== '-') expect(eventOfChange(from, to)).toBe(events[mark])
  },
)

test('an undone resolution opens again, whatever the state before', () => {
  expect(eventOfChange('resolved', 'acknowledged')).toBe('finding_reopened')
  expect(eventOfChange('resolved', 'muted')).toBeNull()
})

test('the same key has the same finding, another key or project another', () => {
  const projectId = newId('project')
  const key = { scorer_name: 's', evidence_kind: 'k', agent_name: 'a', tool_name: '' }
  const ids = [
    findingId(projectId, key),
    findingId(projectId, { ...key }),
    findingId(projectId, { ...key, agent_name: '', tool_name: 'a' }),
    findingId(newId('project'), key),
  ]
  expect(ids[0]).toBe(ids[1])
  expect(new Set(ids).size).toBe(3)
})
