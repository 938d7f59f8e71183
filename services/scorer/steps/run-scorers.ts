import type { Call } from '../scoring/call-text.ts'
import { askJudge, type JudgingTerms, type JudgingTools } from './ask-judge.ts'
import type { ChosenScorers } from './choose-scorers.ts'
import type { DetectCall } from './detect-call.ts'
import type { NamedVerdict } from './named-verdict.ts'

export interface ScoringTools extends JudgingTools {
  detect: DetectCall
}

export interface ScoringTerms extends JudgingTerms {
  /** A call that detectors are too slow on is tried once more later. */
  mayTryLater: boolean
}

/**
 * One verdict for each chosen scorer, whatever happens to it: detectors first, then the judge where it is asked.
 * `try_later`, before the judge costs anything: detectors were too slow, and the call may be tried again.
 * Rejects when `signal` aborts.
 */
export async function runScorers(
  chosen: ChosenScorers,
  call: Call,
  terms: ScoringTerms,
  tools: ScoringTools,
  signal: AbortSignal,
): Promise<NamedVerdict[] | 'try_later'> {
  const failAt = Object.fromEntries(tools.rubrics.values().map((rubric) => [rubric.scorer, rubric.failAt]))
  const found = await tools.detect({ ...chosen, failAt }, call, terms, signal)
  if (terms.mayTryLater && found.some(({ verdict }) => verdict.reason === 'too_slow')) return 'try_later'
  const detected = new Map(found.map((one) => [one.scorer, one]))
  for (const one of await askJudge(chosen.builtIn, detected, call, terms, tools, signal))
    detected.set(one.scorer, one)
  return [...detected.values()]
}
