import { expect, test } from '@jest/globals'
import type { UnscoredReason } from '#schemas/unscored.ts'
import { judged, unscored } from '#detectors/verdict.ts'
import { createPreviewCount, type PreviewHit } from './preview-count.ts'

const finding = { rationale: 'r', contentFreeRationale: 'r', evidence: [] }
const unsafe = judged('judge', { ...finding, value: 5 })
const safe = judged('judge', { ...finding, value: 1 })
const failed = (reason: UnscoredReason) => unscored('judge', reason)
const hit = (): PreviewHit => ({
  request_id: 'req',
  created_at: '',
  score_value: 5,
  rationale: '',
  expected: null,
  matches: [],
})

test('agreement is of the calls that have reviews and a verdict', () => {
  const count = createPreviewCount(7)
  count.looked(unsafe, 'unsafe', hit)
  count.looked(unsafe, 'safe', hit)
  count.looked(safe, 'safe', hit)
  count.looked(safe, 'unsafe', hit)
  count.looked(safe, null, hit)
  count.looked(failed('judge_answer_invalid'), 'unsafe', hit)
  count.without('bodies')
  const { report, hits } = count.result(false)
  expect(report).toMatchObject({ planned: 7, calls: 7, hits: 2, unscored: 1, without_bodies: 1 })
  expect(report.reviews).toEqual({ calls: 4, agreed: 2, false_alarms: 1, missed: 1 })
  expect([hits.length, report.stopped_by]).toEqual([2, null])
})

test('of many hits fifty are kept, and all are counted', () => {
  const count = createPreviewCount(80)
  for (let at = 0; at < 80; at += 1) count.looked(unsafe, null, hit)
  const { report, hits } = count.result(true)
  expect([report.hits, hits.length, report.stopped_by]).toEqual([80, 50, 'time'])
})

test.each<[string, UnscoredReason, number, string | null]>([
  ['a spent budget stops at once', 'budget_spent', 1, 'budget'],
  ['so does a price that is not known', 'no_price', 1, 'budget'],
  ['a judge that is away stops after five calls', 'judge_unavailable', 5, 'judge'],
  ['and not after four', 'judge_unavailable', 4, null],
  ['answers that are none do not', 'judge_answer_invalid', 9, null],
])('%s', (_name, reason, times, stopped) => {
  const count = createPreviewCount(20)
  for (let at = 0; at < times; at += 1) count.looked(failed(reason), null, hit)
  expect([count.isStopped(), count.result(false).report.stopped_by]).toEqual([stopped !== null, stopped])
})
