import { describe, expect, test } from '@jest/globals'
import { describeBefore, filtersOfGroup, nameOfGroup, stepsOf, type Costs } from './read-costs.ts'

const projectName = (id: string) => (id === 'prj_1' ? 'Web shop' : id)

describe('a group', () => {
  test.each<[by: string[], values: (string | null)[], name: string, filters: unknown]>([
    [['metadata.team'], ['search'], 'search', { 'metadata.team': 'search' }],
    [['metadata.team'], [null], 'No team', undefined],
    [['user', 'model'], ['ada', 'm'], 'ada, m', { user_id: 'ada', model: 'm' }],
    [['project'], ['prj_1'], 'Web shop', { project: 'prj_1' }],
  ])('by %j of %j is named and leads to its requests', (by, values, name, filters) => {
    const group = { values, is_other: false }
    expect(nameOfGroup(group, by, projectName)).toBe(name)
    expect(filtersOfGroup(group, by)).toEqual(filters)
  })

  test('of all others leads nowhere', () => {
    const rest = { values: [], is_other: true }
    expect(nameOfGroup(rest, ['user'], projectName)).toBe('All others')
    expect(filtersOfGroup(rest, ['user'])).toBeUndefined()
  })
})

test.each([
  [15, 10, '10, +50%'],
  [5, 10, '10, -50%'],
  [10, 10, '10, unchanged'],
  [10, 0, '0'],
])('before %s it was %s', (now, before, text) => {
  expect(describeBefore(now, before, String)).toBe(text)
})

test('a chart has every step, with 0 where a group has no calls and no latency there', () => {
  const point = { at: '2026-01-02T00:00:00.000Z', cost_usd: 2, latency_p95_ms: 30 }
  const costs = {
    start: '2026-01-01T05:00:00.000Z',
    end: '2026-01-04T00:00:00.000Z',
    step_hours: 24,
    series: [{ values: ['a'], is_other: false, points: [point] }],
  } as unknown as Costs
  const valuesOf = (steps: { values: unknown[] }[]) => steps.map(({ values }) => values[0])
  expect(valuesOf(stepsOf(costs, 'cost'))).toEqual([0, 2, 0])
  expect(valuesOf(stepsOf(costs, 'latency'))).toEqual([null, 30, null])
  expect(stepsOf({ ...costs, series: [] }, 'cost')).toEqual([])
})
