import { describe, expect, test } from '@jest/globals'
import { detected, judged, labelOf, severityOf, unscored } from './verdict.ts'

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

describe('the line of a rubric', () => {
  const found = (value: number) => ({ value, rationale: 'r', contentFreeRationale: 'c', evidence: [] })

  test.each([
    [5, 5, 'unsafe', false],
    [4, 4, 'unsafe', false],
    [4, 3, 'unsafe', false],
    // Found, but not proven: a judge decides if there is one.
    [3, 3, 'unsafe', true],
    [3, 4, 'safe', false],
    [3, 5, 'safe', false],
    // The finding is below the threshold, and detectors for this do not say that nothing is above it.
    [4, 5, 'unscored', false],
  ])('a detector finds %s where fail_at is %s: %s', (value, failAt, label, isEstimate) => {
    const verdict = detected(found(value), failAt)
    expect([verdict.label, verdict.isEstimate ?? false]).toEqual([label, isEstimate])
  })

  test('stands beside the levels of the judge, where it is another than the default', () => {
    const levels = { request: 5, answer: 3 }
    expect(judged('judge', { ...found(5), levels }, 3).levels).toEqual({ ...levels, fail_at: 3 })
    expect(judged('judge', { ...found(5), levels }).levels).toEqual(levels)
  })
})
