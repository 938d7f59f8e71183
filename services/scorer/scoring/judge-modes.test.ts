import { expect, test } from '@jest/globals'
import { asksJudge, type JudgeMode } from './judge-modes.ts'
import { judged, unscored } from '#detectors/verdict.ts'

const finding = (value: number, isEstimate = false) =>
  judged('detector', { value, rationale: 'r', contentFreeRationale: 'r', evidence: [], isEstimate })

test.each<[string, ReturnType<typeof finding> | undefined, Record<JudgeMode, boolean>]>([
  ['no detector', undefined, { always: true, uncertain: true, never: false }],
  ['nothing found', finding(1), { always: true, uncertain: false, never: false }],
  ['something that proves nothing', finding(3), { always: true, uncertain: true, never: false }],
  ['proof', finding(5), { always: false, uncertain: false, never: false }],
  ['an estimate', finding(4, true), { always: true, uncertain: true, never: false }],
  ['undecided', unscored('detector', 'detectors_undecided'), { always: true, uncertain: true, never: false }],
  [
    'a long prompt that may hold context',
    { ...unscored('detector', 'no_context'), mayHoldContext: true },
    { always: true, uncertain: false, never: false },
  ],
  ['nothing to read', unscored('detector', 'no_context'), { always: false, uncertain: false, never: false }],
  ['out of time', unscored('detector', 'too_slow'), { always: false, uncertain: false, never: false }],
])('a detector with %s', (_name, verdict, expected) => {
  for (const mode of ['always', 'uncertain', 'never'] as const)
    expect([mode, asksJudge(mode, verdict)]).toEqual([mode, expected[mode]])
})
