import { classOfReason } from '#schemas/unscored.ts'
import { owaspCategoryOf, type BuiltInScorer } from '#schemas/verdicts.ts'
import type { Judge, JudgeResult } from '../judge/judge.ts'
import type { Waiter } from '../judge/wait-queue.ts'
import type { Call } from '#detectors/call-text.ts'
import { asksJudge, type JudgeMode } from '../scoring/judge-modes.ts'
import type { Grouping } from '../scoring/judge/group-rubrics.ts'
import { findingOf, hasPartialSide, shownInPart, sidesWithText } from '../scoring/judge/judge-answer.ts'
import { materialOf } from '../scoring/judge/judge-material.ts'
import type { JudgeMaterial } from '../scoring/judge/judge-prompt.ts'
import type { Rubric } from '../scoring/judge/rubric.ts'
import { judged, unscored, type Verdict, type NamedVerdict } from '#detectors/verdict.ts'

export interface JudgingTools {
  /** Null: not configured. */
  judge: Judge | null
  rubrics: ReadonlyMap<BuiltInScorer, Rubric>
  /** UTF-16 units of each side shown to the judge. */
  judgeTextLimit: number
  judgeGrouping: Grouping
}

/** For whom the judge is asked, and under which settings. */
export interface JudgingTerms extends Waiter {
  judgeMode: JudgeMode
  /** The project's own unsafe thresholds, by scorer. */
  failAt?: Readonly<Record<string, number>>
}

/**
 * Judges the built-in scorers that need it; the others keep their detector's verdict. If the judge fails, a
 * detector's verdict stands with the reason in its details: it never claims more than the detector found.
 */
export async function askJudge(
  builtIn: readonly BuiltInScorer[],
  detected: ReadonlyMap<string, NamedVerdict>,
  call: Call,
  terms: JudgingTerms,
  tools: JudgingTools,
  signal: AbortSignal,
): Promise<NamedVerdict[]> {
  const { judge, rubrics, judgeTextLimit, judgeGrouping } = tools
  const open = builtIn
    .flatMap((name) => rubrics.get(name) ?? [])
    .filter(({ scorer }) => judge?.covers(scorer) === true)
    .filter(({ scorer }) => asksJudge(terms.judgeMode, detected.get(scorer)?.verdict))
  // Building the material reads the whole call.
  if (judge === null || open.length === 0) return []
  const evidence = [...detected.values()].flatMap(({ verdict }) => verdict.evidence)
  const material = materialOf(call, judgeTextLimit, evidence)
  const verdicts: NamedVerdict[] = []
  const settle = (rubric: Rubric, verdict: Verdict) => {
    const detector = detected.get(rubric.scorer)
    if (verdict.label !== 'unscored' || detector === undefined || !standsAgainst(verdict, detector.verdict))
      verdicts.push(nameVerdict(rubric, verdict))
    else verdicts.push({ ...detector, verdict: withFailure(detector.verdict, verdict) })
  }
  const asked = open.filter((rubric) => sidesWithText(rubric, material).length > 0)
  const groups = judge.arrange(asked, material, judgeGrouping).map(async (group) => {
    const { projectId, lane } = terms
    const result = await judge.judge({ projectId, rubrics: group, material, lane }, signal)
    for (const rubric of group) {
      const failAt = terms.failAt?.[rubric.scorer] ?? rubric.failAt
      settle(rubric, verdictOf({ ...rubric, failAt }, result, call, material))
    }
  })
  // Waits for all, even if one fails: none may continue behind a retried job.
  for (const outcome of await Promise.allSettled(groups)) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
  return verdicts
}

/** A detector's verdict says more than a failure. An undecided one stands if the judge does not cover it. */
function standsAgainst({ reason }: Verdict, detector: Verdict): boolean {
  return detector.label !== 'unscored' || (reason !== null && classOfReason(reason) === 'outside')
}

/** A detector's verdict that stands, with the failure of its judge. */
function withFailure(detector: Verdict, { judge, reason }: Verdict): Verdict {
  if (judge === undefined || reason === null) throw new Error('unscored judge verdict without a reason')
  return { ...detector, judge: { ...judge, failed: reason } }
}

function verdictOf(rubric: Rubric, result: JudgeResult, call: Call, material: JudgeMaterial): Verdict {
  const parts = shownInPart(rubric, material)
  const windowed = parts.length > 0 ? { windowed: true as const } : {}
  const judge = { ...result.trace, rubric: rubric.version, ...windowed }
  if (result.kind === 'failed') return { ...unscored('judge', result.reason), judge }
  const judgement = result.judgements.get(rubric.scorer)
  if (judgement === undefined) return { ...unscored('judge', 'judge_answer_invalid'), judge }
  if ('unjudged' in judgement) return { ...unscored('judge', judgement.unjudged), judge }
  const verdict = judged('judge', findingOf(judgement, call, parts), rubric.failAt)
  if (verdict.label === 'safe' && hasPartialSide(parts))
    return { ...verdict, ...unscored('judge', 'judge_saw_part'), judge }
  return { ...verdict, judge }
}

function nameVerdict({ scorer, version }: Rubric, verdict: Verdict): NamedVerdict {
  return { scorer, version, owaspCategory: owaspCategoryOf[scorer], verdict }
}
