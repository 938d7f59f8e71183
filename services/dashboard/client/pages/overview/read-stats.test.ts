import { expect, test } from '@jest/globals'
import { everyStep, rangeOfPoint, type CallPoint, type Stats } from './read-stats.ts'

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
  const steps = everyStep(points, answer)
  expect(
    steps.map(({ at, point: found }) => `${at.slice(11, 13)} ${found === undefined ? '-' : 'x'}`),
  ).toEqual(expected)
})

test('a point leads to the time that it stands for', () => {
  expect(rangeOfPoint('2026-11-21T18:00:00.000Z', 6)).toEqual({
    start: '2026-11-21T18:00:00.000Z',
    end: '2026-11-22T00:00:00.000Z',
  })
})
