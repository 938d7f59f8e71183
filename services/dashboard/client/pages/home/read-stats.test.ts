import { expect, test } from '@jest/globals'
import { formatShare, formatShort } from '../../formats/format-number.ts'
import {
  describeReadings,
  describeUnsafe,
  fillSteps,
  largestOf,
  rangeOfPoint,
  type CallPoint,
  type CallSeries,
  type CallTotal,
  type Stats,
} from './read-stats.ts'

const point = (at: string) => ({ at, calls: 1 }) as CallPoint
const stats = (start: string, end: string, step_hours: number) => ({ start, end, step_hours }) as Stats

test.each([
  [
    'hours without calls are there',
    stats('2026-11-21T10:00:00.000Z', '2026-11-21T14:00:00.000Z', 1),
    [point('2026-11-21T11:00:00.000Z')],
    ['10 -', '11 x', '12 -', '13 -'],
  ],
  [
    'steps stand where the answer has them, one before the range begins',
    stats('2026-11-21T10:00:00.000Z', '2026-11-21T20:00:00.000Z', 6),
    [point('2026-11-21T12:00:00.000Z')],
    ['06 -', '12 x', '18 -'],
  ],
  ['nothing at all', stats('2026-11-21T10:00:00.000Z', '2026-11-21T12:00:00.000Z', 1), [], ['10 -', '11 -']],
])('%s', (_name, answer, points, expected) => {
  const steps = fillSteps(points, answer)
  expect(
    steps.map(({ at, point: found }) => `${at.slice(11, 13)} ${found === undefined ? '-' : 'x'}`),
  ).toEqual(expected)
})

test.each([
  ['every scorer judged', [95, 5, 0, 2], [5, 100], '5 of 100 scored, 2 critical'],
  ['some scorers could not judge', [95, 5, 800, 2], [5, 900], '5 of 900 scored, 2 critical'],
  ['nothing is scored yet', [0, 0, 0, 0], [0, 0], '0 of 0 scored, 0 critical'],
] as const)('%s', (_name, [safe, unsafe, unscored, critical], [part, all], detail) => {
  const total = { safe, unsafe, unscored, critical } as CallTotal
  // In the locale's digits.
  const shown = detail.replaceAll(/\d+/g, (digits) => formatShort(Number(digits)))
  expect(describeUnsafe(total)).toEqual({ share: formatShare(part, all), detail: shown })
})

test.each([
  ['all read', [90, 0, 0, 10], [80, 90], [90, 100], 'of scores decided'],
  ['some not read', [60, 20, 10, 10], [50, 90], [60, 100], '20 partly read, 10 not read, of scores decided'],
  ['nothing yet', [0, 0, 0, 0], [0, 0], [0, 0], 'of scores decided'],
] as const)('no finding: %s', (_name, counts, [decided, applicable], [part, all], detail) => {
  const [no_finding, partly_read, not_read, unsafe] = counts
  const scores = { scores_decided: decided, scores_applicable: applicable }
  const total = { no_finding, partly_read, not_read, unsafe, ...scores } as CallTotal
  const shown = detail
    .replaceAll(/\d+/g, (digits) => formatShort(Number(digits)))
    .replace('of scores', `${formatShare(decided, applicable)} of scores`)
  expect(describeReadings(total)).toEqual({ share: formatShare(part, all), detail: shown })
})

test.each([
  ['in the middle', '2026-11-21T18', '2026-11-21T18', '2026-11-22T00'],
  ['that began before the range', '2026-11-21T06', '2026-11-21T10', '2026-11-21T12'],
  ['that ends after it', '2026-11-22T06', '2026-11-22T06', '2026-11-22T11'],
])('a point %s leads to what it counts', (_name, at, start, end) => {
  const hour = (text: string) => `${text}:00:00.000Z`
  const answer = stats(hour('2026-11-21T10'), hour('2026-11-22T11'), 6)
  expect(rangeOfPoint(hour(at), answer)).toEqual({ start: hour(start), end: hour(end) })
})

test('what is not among the largest is one row', () => {
  const group = (name: string | null, calls: number) =>
    ({
      name,
      isOther: name === null,
      points: [],
      total: { calls, unsafe: 1, latency_p95_ms: 9 },
    }) as unknown as CallSeries
  const all = [group('a', 9), group('b', 5), group('c', 3), group(null, 2)]
  expect(largestOf(all, 3)).toEqual(all)
  expect(largestOf(all, 2)).toMatchObject([
    { name: 'a' },
    { name: 'b' },
    { name: null, isOther: true, total: { calls: 5, unsafe: 2, latency_p95_ms: null } },
  ])
})
