import { expect, test } from '@jest/globals'
import {
  addArrived,
  isOutdatedRow,
  withArrived,
  type ArrivedScore,
  type RequestItem,
} from './merge-scores.ts'

const row = (fields: Partial<RequestItem> = {}) =>
  ({
    id: 'r',
    worst_label: null,
    worst_severity: null,
    score_count: 0,
    unsafe_scores: [],
    ...fields,
  }) as unknown as RequestItem
const score = (
  scorer_name: string,
  score_label: ArrivedScore['score_label'],
  severity: ArrivedScore['severity'] = null,
  reason: string | null = null,
) => ({
  request_id: 'r',
  scorer_name,
  score_label,
  severity,
  reason,
})

test.each([
  ['the first score', row(), [score('a', 'safe')], ['safe', null, 1]],
  [
    'the worst wins, in whatever order',
    row(),
    [score('a', 'unsafe', 'high'), score('b', 'unscored'), score('c', 'safe')],
    ['unsafe', 'high', 3],
  ],
  [
    'a worse severity wins',
    row(),
    [score('a', 'unsafe', 'critical'), score('b', 'unsafe', 'medium')],
    ['unsafe', 'critical', 2],
  ],
  [
    'what the row knew already is not counted twice',
    row({ worst_label: 'unsafe', worst_severity: 'critical', score_count: 3 }),
    [score('a', 'safe')],
    ['unsafe', 'critical', 3],
  ],
  ['nothing came', row({ worst_label: 'safe', score_count: 2 }), [], ['safe', null, 2]],
])('%s', (_name, before, scores, expected) => {
  const after = withArrived(before, addArrived(new Map(), scores).arrived.get('r'), undefined)
  expect([after.worst_label, after.worst_severity, after.score_count]).toEqual(expected)
  const unsafe = scores.filter(({ score_label }) => score_label === 'unsafe')
  expect(after.unsafe_scores.map(({ scorer_name }) => scorer_name)).toEqual(
    unsafe.map(({ scorer_name }) => scorer_name),
  )
})

test('a row without scores gets the reading of those that came; one that has them keeps its own', () => {
  const tooSlow = score('b', 'unscored', null, 'too_slow')
  const { arrived } = addArrived(new Map(), [score('a', 'safe'), tooSlow, tooSlow])
  const partly = {
    verdict: 'partly_read',
    coverage: { decided: 1, applicable: 2, total: 2 },
    unread_scorers: ['b'],
  } satisfies Partial<RequestItem>
  expect(withArrived(row(), arrived.get('r'), undefined)).toMatchObject(partly)
  const before = row({ ...partly, verdict: 'not_read', score_count: 2 })
  expect(withArrived(before, arrived.get('r'), undefined)).toMatchObject({ verdict: 'not_read' })
})

test('a row under a scorer says what came of that one', () => {
  const { arrived } = addArrived(new Map(), [score('a', 'unsafe', 'high'), score('b', 'safe')])
  const before = row({ scorer_label: 'unscored', scorer_severity: null })
  const saidBy = (scorer: string) => {
    const { scorer_label, scorer_severity } = withArrived(before, arrived.get('r'), scorer)
    return [scorer_label, scorer_severity]
  }
  expect([saidBy('a'), saidBy('b'), saidBy('c')]).toEqual([
    ['unsafe', 'high'],
    ['safe', null],
    ['unscored', null],
  ])
})

test('remembers two thousand requests, those that changed last', () => {
  const many = Array.from({ length: 2_500 }, (_each, index) => ({
    ...score('a', 'safe'),
    request_id: `r${index}`,
  }))
  const { arrived: first } = addArrived(new Map(), many)
  const { arrived: known } = addArrived(first, [{ ...score('b', 'safe'), request_id: 'r600' }])
  expect([known.size, known.has('r0'), known.has('r600'), known.has('r2499')]).toEqual([
    2_000,
    false,
    true,
    true,
  ])
})

test('a scorer that says something else leaves nothing to go by: the list is read again', () => {
  const before = addArrived(new Map(), [score('a', 'unsafe', 'high'), score('b', 'safe')])
  const again = addArrived(before.arrived, [score('b', 'safe')])
  const promoted = addArrived(again.arrived, [score('a', 'safe')])
  expect([before, again, promoted].map(({ isOutdated }) => isOutdated)).toEqual([false, false, true])
  expect([again.arrived.has('r'), promoted.arrived.has('r')]).toEqual([true, false])
  expect(addArrived(promoted.arrived, [score('b', 'safe')]).arrived.get('r')?.worst.label).toBe('safe')
})

test.each([
  [
    'a milder score took the place of the one that the row is from',
    'unsafe',
    'high',
    [score('a', 'safe')],
    true,
  ],
  ['a milder severity did', 'unsafe', 'critical', [score('a', 'unsafe', 'medium')], true],
  [
    'the row had these scores already',
    'unsafe',
    'high',
    [score('a', 'unsafe', 'high'), score('b', 'safe')],
    false,
  ],
  ['a worse score came', 'safe', null, [score('a', 'unsafe', 'high')], false],
  ['they are the first ones', null, null, [score('a', 'safe')], false],
  ['none came for it', 'unsafe', 'high', [{ ...score('a', 'safe'), request_id: 'other' }], false],
] as const)('the list is read again or not: %s', (_name, worst_label, worst_severity, scores, wanted) => {
  const { arrived } = addArrived(new Map(), scores)
  expect(isOutdatedRow([row({ worst_label, worst_severity })], arrived, scores)).toBe(wanted)
})
