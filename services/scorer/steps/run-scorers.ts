import { isUnmasked, type Call } from '#detectors/call-text.ts'
import { askJudge, type JudgingTerms, type JudgingTools } from './ask-judge.ts'
import type { ChosenScorers } from './choose-scorers.ts'
import type { DetectCall } from './detect-call.ts'
import { judgeCriteria } from './judge-criteria.ts'
import { leaveUnscored } from './run-detectors.ts'
import type { BrokenScorer } from '../scoring/custom/project-scorers.ts'
import { unscored, type NamedVerdict } from '#detectors/verdict.ts'

export interface ScoringTools extends JudgingTools {
  detect: DetectCall
}

export interface ScoringTerms extends JudgingTerms {
  /** Whether a call too slow for the detectors may be retried later. */
  mayTryLater: boolean
}

/**
 * One verdict per chosen scorer, whatever happens: detectors first, then the judge where needed. Returns
 * `try_later` before any judge cost if detectors were too slow and a retry is allowed. Rejects when `signal`
 * aborts.
 */
export async function runScorers(
  chosen: ChosenScorers,
  call: Call,
  terms: ScoringTerms,
  tools: ScoringTools,
  signal: AbortSignal,
): Promise<NamedVerdict[] | 'try_later'> {
  const failAt = {
    ...Object.fromEntries(tools.rubrics.values().map((rubric) => [rubric.scorer, rubric.failAt])),
    ...terms.failAt,
  }
  const found = await tools.detect({ ...chosen, failAt }, call, terms, signal)
  if (terms.mayTryLater && found.some(({ verdict }) => verdict.reason === 'too_slow')) return 'try_later'
  if (isUnmasked(call)) return neverSafe(chosen, found)
  const detected = new Map(found.map((one) => [one.scorer, one]))
  for (const one of await askJudge(chosen.builtIn, detected, call, terms, tools, signal))
    detected.set(one.scorer, one)
  const criteria = await judgeCriteria(chosen.criteria ?? [], found, call, terms, tools, signal)
  return [...detected.values(), ...criteria, ...(chosen.broken ?? []).map(failed)]
}

/** What was found in the other body stands. The rest is not read, and no judge is asked about half a call. */
function neverSafe(chosen: ChosenScorers, found: readonly NamedVerdict[]): NamedVerdict[] {
  const isFound = ({ verdict }: NamedVerdict) => verdict.label === 'unsafe'
  const unread = leaveUnscored({ builtIn: [], custom: [], criteria: chosen.criteria ?? [] }, 'not_masked')
  return [
    ...found.map((one) =>
      isFound(one) ? one : { ...one, verdict: unscored(one.verdict.method, 'not_masked') },
    ),
    ...unread,
    ...(chosen.broken ?? []).map(failed),
  ]
}

/** A defect, or a scorer of a newer version: never taken for a clean result. */
function failed({ name, version, problem }: BrokenScorer): NamedVerdict {
  const rationale = `This scorer of the project cannot be read: ${problem}.`
  const verdict = { ...unscored('custom', 'detector_failed'), rationale, contentFreeRationale: rationale }
  return { scorer: name, version, owaspCategory: null, isOfProject: true, verdict }
}
