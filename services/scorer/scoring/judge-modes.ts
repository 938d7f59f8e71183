import type { Verdict } from './verdict.ts'

/** When a project has its calls read by the judge. `uncertain`: only where detectors are not sure. */
export const judgeModes = ['always', 'uncertain', 'never'] as const
export type JudgeMode = (typeof judgeModes)[number]

/**
 * Whether a scorer's rubric is put to the judge, after its detector (undefined: it has none). Never where the detector has proof:
 * what is proven needs no reader, and a reader that hostile text can talk to must not overrule it; a model's estimate is no proof. Nor where the detector says that there is
 * nothing to read, or did not come through it in time: the judge is shown a part of such a call at most.
 */
export function asksJudge(mode: JudgeMode, detector: Verdict | undefined): boolean {
  if (mode === 'never') return false
  if (detector === undefined) return true
  if (detector.label === 'unscored') return detector.reason === 'detectors_undecided'
  if (detector.label === 'unsafe') return detector.isEstimate === true
  return mode === 'always' || isUnsure(detector)
}

/** Between 1 and the least that is unsafe: something was found that proves nothing. */
function isUnsure({ value }: Verdict): boolean {
  return value !== null && value > 1
}
