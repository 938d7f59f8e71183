import { describe, expect, test } from '@jest/globals'
import { measure, type Outcome } from './measures.ts'

const outcome = (value: number, label: 0 | 1): Outcome => ({
  value,
  label,
  decided: true,
  unsafe: value >= 4,
})

describe('measures', () => {
  test('of a scorer that is mostly right', () => {
    const outcomes = [
      outcome(5, 1),
      outcome(4, 1),
      outcome(1, 1),
      outcome(4, 0),
      outcome(1, 0),
      outcome(2, 0),
    ]
    const { precision, recall, f1, false_positive_rate, auroc } = measure(outcomes)
    expect(precision?.value).toBeCloseTo(2 / 3)
    expect(recall?.value).toBeCloseTo(2 / 3)
    expect(f1?.value).toBeCloseTo(2 / 3)
    expect(false_positive_rate?.value).toBeCloseTo(1 / 3)
    // Pairs won: 5 beats three, 4 ties one and beats two, 1 ties one.
    expect(auroc?.value).toBeCloseTo((3 + 2.5 + 0.5) / 9)
  })

  test('recall at 1% false positives takes the best threshold that keeps to it', () => {
    const negatives = Array.from({ length: 200 }, (_unused, index) => outcome(index < 3 ? 4 : 1, 0))
    const { recall_at_1_percent_fp } = measure([...negatives, outcome(5, 1), outcome(4, 1)])
    expect(recall_at_1_percent_fp?.value).toBe(0.5)
  })

  test('what was left unscored is a miss where it should have been flagged', () => {
    const left: Outcome = { value: 3, label: 1, decided: false, unsafe: false }
    expect(measure([left, outcome(5, 1)])).toMatchObject({ n: 2, unscored: 1, recall: { value: 0.5 } })
  })

  test('positives alone have no precision', () => {
    expect(measure([outcome(5, 1)])).toMatchObject({
      precision: null,
      f1: null,
      auroc: null,
      false_positive_rate: null,
    })
  })

  test('intervals hold the value and repeat', () => {
    const outcomes = Array.from({ length: 100 }, (_unused, index) =>
      outcome(index % 3 === 0 ? 5 : 1, index % 2 === 0 ? 1 : 0),
    )
    const first = measure(outcomes).recall
    expect(first).toEqual(measure(outcomes).recall)
    expect(first?.low).toBeLessThanOrEqual(first?.value ?? 0)
    expect(first?.high).toBeGreaterThanOrEqual(first?.value ?? 1)
  })
})
