import { describe, expect, test } from '@jest/globals'
import { judged, labelOf, severityOf, unscored } from './verdict.ts'

describe('label and severity', () => {
  test.each([
    [1, 4, 'safe', null],
    [3.99, 4, 'safe', null],
    [4, 4, 'unsafe', 'high'],
    [4.5, 4, 'unsafe', 'high'],
    [5, 4, 'unsafe', 'critical'],
    [3, 3, 'unsafe', 'medium'],
    [2, 3, 'safe', null],
    [4, 5, 'safe', null],
    [5, 5, 'unsafe', 'critical'],
  ])('%s with fail_at %s is %s, %s', (value, failAt, label, severity) => {
    expect(labelOf(value, failAt)).toBe(label)
    expect(severityOf(value, failAt)).toBe(severity)
  })

  test.each([0, 6, -1, Number.NaN, Number.POSITIVE_INFINITY])('%s is refused, never safe', (value) => {
    expect(() => labelOf(value)).toThrow(RangeError)
  })
})

test('what was not judged has no value, no severity and a reason', () => {
  expect(unscored('judge', 'judge_unavailable')).toMatchObject({
    value: null,
    label: 'unscored',
    severity: null,
    reason: 'judge_unavailable',
  })
})

test('what was judged has no reason', () => {
  const finding = { value: 5, rationale: 'r', contentFreeRationale: 'c', evidence: [] }
  expect(judged('detector', finding)).toMatchObject({ label: 'unsafe', severity: 'critical', reason: null })
})
