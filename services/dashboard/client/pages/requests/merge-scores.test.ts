import { expect, test } from '@jest/globals'
import { addArrived, withArrived, type ArrivedScore, type RequestItem } from './merge-scores.ts'

const row = (fields: Partial<RequestItem> = {}) =>
  ({ id: 'r', worst_label: null, worst_severity: null, score_count: 0, ...fields }) as RequestItem
const score = (
  scorer_name: string,
  score_label: ArrivedScore['score_label'],
  severity: ArrivedScore['severity'] = null,
) => ({
  request_id: 'r',
  scorer_name,
  score_label,
  severity,
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
  const after = withArrived(before, addArrived(new Map(), scores).get('r'))
  expect([after.worst_label, after.worst_severity, after.score_count]).toEqual(expected)
})

test('remembers two thousand requests, those that changed last', () => {
  const many = Array.from({ length: 2_500 }, (_each, index) => ({
    ...score('a', 'safe'),
    request_id: `r${index}`,
  }))
  const known = addArrived(addArrived(new Map(), many), [{ ...score('b', 'safe'), request_id: 'r600' }])
  expect([known.size, known.has('r0'), known.has('r600'), known.has('r2499')]).toEqual([
    2_000,
    false,
    true,
    true,
  ])
})
