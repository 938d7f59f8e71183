import { expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { foldVerdicts } from './fold-verdicts.ts'
import { placeScores } from './place-score.ts'

const projectId = newId('project')
const call = sampleCall(projectId)
const safe = { score_label: 'safe', score_value: 1, severity: null } as const
const unscored = { score_label: 'unscored', score_value: null, severity: null } as const
const scored = (scores: Partial<Score>[], runId?: string) =>
  placeScores(
    sampleScoredCall(call, {
      scores: scores.map((changes) => sampleScore(projectId, call.id, changes)),
      ...(runId === undefined ? {} : { run_id: runId }),
    }),
  )

test.each<[name: string, scores: Partial<Score>[], label: string, severity: string | null]>([
  ['one safe', [safe], 'safe', null],
  ['what could not be judged is worse than safe', [safe, unscored, safe], 'unscored', null],
  ['unsafe is worst', [unscored, { severity: 'medium' }, safe], 'unsafe', 'medium'],
  [
    'the worst severity of several',
    [{ severity: 'high' }, { severity: 'critical' }, { severity: 'medium' }],
    'unsafe',
    'critical',
  ],
])('%s', (_name, scores, worstLabel, worstSeverity) => {
  expect(foldVerdicts(scored(scores))).toMatchObject([
    { worstLabel, worstSeverity, scoreCount: scores.length },
  ])
})

test('the reading of a request is that of all its scores, in one record or several', () => {
  const tooSlow = { ...unscored, reason: 'too_slow', scorer_name: 'hallucination' }
  const partly = { verdict: 'partly_read', decided: 1, applicable: 2, unreadScorers: ['hallucination'] }
  expect(foldVerdicts(scored([safe, tooSlow]))).toMatchObject([{ reading: partly }])
  expect(foldVerdicts([...scored([safe]), ...scored([tooSlow])])).toMatchObject([{ reading: partly }])
})

test('only scores of the live run count', () => {
  expect(foldVerdicts(scored([{}], newId('run')))).toEqual([])
})
