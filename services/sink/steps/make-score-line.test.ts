import { expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { makeScoreLine } from './make-score-line.ts'

const projectId = newId('project')
const call = sampleCall(projectId)

test.each<[name: string, score: Partial<Score>, expected: object]>([
  [
    'unsafe is fail',
    { score_value: 5, severity: 'critical' },
    { score_label: 'fail', score_value: 1, severity: 'critical' },
  ],
  [
    'four is three quarters',
    { score_value: 4, severity: 'high' },
    { score_label: 'fail', score_value: 0.75, severity: 'high' },
  ],
  [
    'safe stays safe',
    { score_value: 1, score_label: 'safe', severity: null },
    { score_label: 'safe', score_value: 0, severity: null },
  ],
  [
    'unscored has no value',
    { score_value: null, score_label: 'unscored', severity: null },
    { score_label: 'unscored', score_value: null },
  ],
])('%s', (_name, changes, expected) => {
  expect(makeScoreLine(sampleScoredCall(call), sampleScore(projectId, call.id, changes))).toMatchObject(
    expected,
  )
})

test('has the fields of specification 2.9 besides ts and level', () => {
  expect(makeScoreLine(sampleScoredCall(call), sampleScore(projectId, call.id))).toEqual({
    event: 'safety_score_written',
    request_id: call.id,
    project_id: projectId,
    agent_name: 'support-bot',
    model: 'gpt-4o-mini',
    scorer: 'pii_detection',
    score_label: 'fail',
    score_value: 1,
    severity: 'critical',
    owasp_category: 'LLM02',
    latency_ms: 321.5,
  })
})
