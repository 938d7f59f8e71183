import type { JudgeResult } from '../judge/judge.ts'
import type { Call } from '#detectors/call-text.ts'
import { defaultFailAt, judged, unscored, type NamedVerdict, type Verdict } from '#detectors/verdict.ts'
import { namesOfCriterion, type Criterion } from '../scoring/judge/criterion.ts'
import { findingOf, hasPartialSide, shownInPart, sidesWithText } from '../scoring/judge/judge-answer.ts'
import { materialOf } from '../scoring/judge/judge-material.ts'
import type { JudgeMaterial } from '../scoring/judge/judge-prompt.ts'
import type { JudgingTerms, JudgingTools } from './ask-judge.ts'

/** One verdict per criterion, each by a request of its own. Rejects when `signal` aborts. */
export async function judgeCriteria(
  criteria: readonly Criterion[],
  detected: readonly NamedVerdict[],
  call: Call,
  terms: JudgingTerms,
  tools: Pick<JudgingTools, 'judge' | 'judgeTextLimit'>,
  signal: AbortSignal,
): Promise<NamedVerdict[]> {
  const { judge, judgeTextLimit } = tools
  if (criteria.length === 0) return []
  const name = (criterion: Criterion, verdict: Verdict) => ({ ...namesOfCriterion(criterion), verdict })
  if (judge?.covers('criterion') !== true)
    return criteria.map((criterion) => name(criterion, notAsked('none that reads criteria is configured')))
  if (terms.judgeMode === 'never')
    return criteria.map((criterion) => name(criterion, notAsked("the project's judge_mode is `never`")))
  const evidence = detected.flatMap(({ verdict }) => verdict.evidence)
  const material = materialOf(call, judgeTextLimit, evidence)
  const { projectId, lane } = terms
  const verdicts = criteria.map(async (criterion) => {
    if (sidesWithText(criterion, material).length === 0) return name(criterion, unscored('judge', 'no_text'))
    const result = await judge.judge({ projectId, lane, rubrics: [], criterion, material }, signal)
    const failAt = terms.failAt?.[criterion.name]
    return name(criterion, verdictOf(criterion, result, call, material, failAt))
  })
  // Waits for all, even if one fails: none may continue behind a retried job.
  return (await Promise.allSettled(verdicts)).map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

function notAsked(why: string): Verdict {
  const rationale = `A criterion needs the judge, and ${why}.`
  return { ...unscored('judge', 'judge_unavailable'), rationale, contentFreeRationale: rationale }
}

function verdictOf(
  criterion: Criterion,
  result: JudgeResult,
  call: Call,
  material: JudgeMaterial,
  failAt: number = defaultFailAt,
): Verdict {
  const parts = shownInPart(criterion, material)
  const windowed = parts.length > 0 ? { windowed: true as const } : {}
  const judge = { ...result.trace, rubric: criterion.version, ...windowed }
  if (result.kind === 'failed') return { ...unscored('judge', result.reason), judge }
  const [judgement] = result.judgements.values()
  if (judgement === undefined || 'unjudged' in judgement)
    return { ...unscored('judge', 'judge_answer_invalid'), judge }
  const verdict = judged('judge', findingOf(judgement, call, parts), failAt)
  if (verdict.label === 'safe')
    return hasPartialSide(parts)
      ? { ...verdict, ...unscored('judge', 'judge_saw_part'), judge }
      : { ...verdict, judge }
  const why = criterion.description === '' ? criterion.sentence : criterion.description
  return {
    ...verdict,
    severity: criterion.severity,
    rationale: `${why} ${verdict.rationale}`,
    contentFreeRationale: `${why} ${verdict.contentFreeRationale}`,
    judge,
  }
}
