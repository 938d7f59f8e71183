import { describe, expect, test } from '@jest/globals'
import { calibrate, type ReviewedScores } from './calibrate.ts'

type Label = ReviewedScores['score_label']
type Row = [label: Label, expected: 'safe' | 'unsafe', value: number | null, count: number]
const of = (rows: readonly Row[], scorer_name = 'jailbreak_detection'): ReviewedScores[] =>
  rows.map(([score_label, expected_label, score_value, count]) => ({
    ...{ scorer_name, score_label, expected_label, score_value, count },
  }))
const only = (rows: readonly Row[]) => calibrate(of(rows))[0]

describe('precision and recall', () => {
  // Intervals computed with R: prop.test(x, n, correct = FALSE).
  test.each<[string, Row[], number[] | null, number[] | null]>([
    ['of one right alarm', [['unsafe', 'unsafe', 5, 1]], [1, 0.2065, 1], [1, 0.2065, 1]],
    ['of false alarms alone', [['unsafe', 'safe', 4, 10]], [0, 0, 0.2775], null],
    ['of safe calls alone', [['safe', 'safe', 1, 10]], null, null],
    [
      'of both kinds of mistakes, an unscored call among them',
      [
        ['unsafe', 'unsafe', 5, 50],
        ['unsafe', 'safe', 4, 50],
        ['safe', 'unsafe', 2, 30],
        ['unscored', 'unsafe', null, 20],
        ['unscored', 'safe', null, 7],
      ],
      [0.5, 0.4038, 0.5962],
      [0.5, 0.4038, 0.5962],
    ],
  ])('%s', (_name, rows, precision, recall) => {
    const expected = (shares: number[] | null) =>
      shares === null
        ? null
        : { rate: shares[0], low: expect.closeTo(shares[1] ?? 0, 4), high: expect.closeTo(shares[2] ?? 0, 4) }
    expect(only(rows)).toMatchObject({ precision: expected(precision), recall: expected(recall) })
  })

  test('counts, by scorer in the order of names', () => {
    const rows = [
      ...of([['unsafe', 'safe', 4, 3]], 'b'),
      ...of(
        [
          ['safe', 'unsafe', 1, 2],
          ['unscored', 'unsafe', null, 1],
        ],
        'a',
      ),
    ]
    expect(calibrate(rows)).toMatchObject([
      { scorer_name: 'a', reviewed: 3, false_alarms: 0, missed: 3 },
      { scorer_name: 'b', reviewed: 3, false_alarms: 3, missed: 0 },
    ])
    expect(calibrate([])).toEqual([])
  })
})

describe('a threshold', () => {
  const suggested = (rows: readonly Row[]) => only(rows)?.suggested_threshold
  const mixed: Row[] = [
    ['unsafe', 'unsafe', 5, 20],
    ['unsafe', 'safe', 4, 10],
    ['safe', 'safe', 1, 10],
  ]

  test.each<[string, Row[]]>([
    [
      'fewer than 20 with a value',
      [
        ['unsafe', 'unsafe', 5, 10],
        ['unsafe', 'safe', 4, 9],
        ['unscored', 'unsafe', null, 50],
      ],
    ],
    ['nothing unsafe', [['unsafe', 'safe', 4, 30]]],
    ['nothing safe', [['unsafe', 'unsafe', 4, 30]]],
  ])('is not suggested for %s', (_name, rows) => {
    expect(suggested(rows)).toBeNull()
  })

  test.each<[string, Row[], number, [precision: number, recall: number]]>([
    ['above what is a false alarm', mixed, 5, [1, 1]],
    ['gives up one of twenty', [...mixed, ['unsafe', 'unsafe', 4, 1]], 5, [1, 20 / 21]],
    ['gives up no more than that', [...mixed, ['unsafe', 'unsafe', 4, 2]], 4, [22 / 32, 1]],
    [
      'below, where misses are cleaner',
      [
        ['unsafe', 'unsafe', 5, 10],
        ['safe', 'unsafe', 3, 10],
        ['safe', 'safe', 1, 5],
      ],
      3,
      [1, 1],
    ],
    [
      'may lose nothing where nothing is found now',
      [
        ['safe', 'unsafe', 2, 10],
        ['safe', 'safe', 1, 10],
      ],
      2,
      [1, 1],
    ],
    [
      'of equal precision the one that finds more',
      [
        ['unsafe', 'unsafe', 5, 10],
        ['unsafe', 'safe', 5, 10],
        ['unsafe', 'unsafe', 4, 10],
        ['unsafe', 'safe', 4, 10],
      ],
      4,
      [0.5, 1],
    ],
  ])('%s', (_name, rows, failAt, [precision, recall]) => {
    expect(suggested(rows)).toMatchObject({
      fail_at: failAt,
      precision: { rate: precision },
      recall: { rate: recall },
    })
  })
})
