import type { UnscoredReason } from '#schemas/unscored.ts'
import type { Verdict } from '#detectors/verdict.ts'

/** When a project uses the judge. `uncertain`: only where detectors are not sure. */
export const judgeModes = ['always', 'uncertain', 'never'] as const
export type JudgeMode = (typeof judgeModes)[number]

/** Reasons of detectors after which a judge may still decide: there is text, and it can be read. */
const openToJudge: ReadonlySet<UnscoredReason | null> = new Set([
  'detectors_undecided',
  'language_not_covered',
  'kind_not_covered',
  'not_decodable',
  'not_kept_whole',
] as const)

/**
 * Whether the judge applies a scorer's rubric, given its detector's verdict (undefined: no detector). Never
 * on proof: hostile text can influence a judge, which must not overrule it; an estimate is not proof. Never
 * where there is no text or context, unless a long prompt may hold it and the mode is `always`, or where the
 * detector was too slow: the judge would see part of such a call at most.
 */
export function asksJudge(mode: JudgeMode, detector: Verdict | undefined): boolean {
  if (mode === 'never') return false
  if (detector === undefined) return true
  if (detector.label === 'unscored')
    return openToJudge.has(detector.reason) || (mode === 'always' && detector.mayHoldContext === true)
  if (detector.label === 'unsafe') return detector.isEstimate === true
  return mode === 'always' || isUnsure(detector)
}

/** Above 1 and below the unsafe threshold: something was found that proves nothing. */
function isUnsure({ value }: Verdict): boolean {
  return value !== null && value > 1
}
