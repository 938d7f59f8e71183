import type { Call } from '../scoring/call-text.ts'
import { askJudge, type JudgingTerms, type JudgingTools } from './ask-judge.ts'
import type { ChosenScorers } from './choose-scorers.ts'
import type { DetectCall } from './detect-call.ts'
import type { NamedVerdict } from './named-verdict.ts'

export interface ScoringTools extends JudgingTools {
  detect: DetectCall
}

/** One verdict for each chosen scorer, whatever happens to it: detectors first, then the judge where it is to be asked. Rejects when `signal` aborts. */
export async function runScorers(
  chosen: ChosenScorers,
  call: Call,
  terms: JudgingTerms,
  tools: ScoringTools,
  signal: AbortSignal,
): Promise<NamedVerdict[]> {
  const failAt = Object.fromEntries(tools.rubrics.values().map((rubric) => [rubric.scorer, rubric.failAt]))
  const found = await tools.detect({ ...chosen, failAt }, call, terms, signal)
  const detected = new Map(found.map((one) => [one.scorer, one]))
  for (const one of await askJudge(chosen.builtIn, detected, call, terms, tools, signal))
    detected.set(one.scorer, one)
  return [...detected.values()]
}
