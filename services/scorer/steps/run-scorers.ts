import { textsOfCall } from '#capture/texts-of-call.ts'
import { owaspCategoryOf, type BuiltInScorer, type OwaspCategory } from '#schemas/verdicts.ts'
import type { Judge } from '../judge/judge.ts'
import { builtIns } from '../scoring/built-in-scorers.ts'
import { piecesOf, type Call } from '../scoring/call-text.ts'
import { startCustomRun } from '../scoring/custom/run-custom-scorer.ts'
import { searchablesOf } from '../scoring/custom/searchable.ts'
import { findingOf, sidesWithText } from '../scoring/judge/judge-answer.ts'
import type { JudgeMaterial } from '../scoring/judge/judge-prompt.ts'
import type { Rubric } from '../scoring/judge/rubric.ts'
import { windowText } from '../scoring/judge/window-text.ts'
import { detected, judged, unscored, type Detector, type Verdict } from '../scoring/verdict.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'
import type { ChosenScorers } from './choose-scorers.ts'
import { createTakeTurn, type TakeTurn } from './take-turns.ts'

/** A verdict with the scorer that came to it. */
export interface NamedVerdict {
  scorer: string
  version: string
  owaspCategory: OwaspCategory | null
  verdict: Verdict
}

export interface ScoringTools {
  /** Null: none is configured. */
  judge: Judge | null
  rubrics: ReadonlyMap<BuiltInScorer, Rubric>
  /** UTF-16 units of each side that the judge is shown. */
  judgeTextLimit: number
  metrics: ScorerMetrics
}

/** One verdict for each chosen scorer, whatever happens to it. `call` is null when the bodies are gone. Rejects when `signal` aborts. */
export async function runScorers(
  { builtIn, custom }: ChosenScorers,
  call: Call | null,
  tools: ScoringTools,
  signal: AbortSignal,
): Promise<NamedVerdict[]> {
  const takeTurn = createTakeTurn()
  // The judge's answer is a network away: detectors use the time.
  const judging = Promise.all(
    builtIn
      .filter((name) => builtIns[name].by === 'judge')
      .map((name) => runRubric(name, call, tools, signal)),
  )
  // It is awaited below; a rejection before that must not end the process.
  judging.catch(() => undefined)
  const verdicts: NamedVerdict[] = []
  for (const name of builtIn) {
    const scorer = builtIns[name]
    if (scorer.by === 'judge') continue
    signal.throwIfAborted()
    const named = (version: string, verdict: Verdict) =>
      verdicts.push({ scorer: name, version, owaspCategory: owaspCategoryOf[name], verdict })
    if (call === null) named(scorer.version, unscored('detector', 'bodies_missing'))
    else {
      const endTimer = tools.metrics.detectorSeconds.startTimer({ scorer: name })
      named(scorer.version, await runDetector(scorer.create(call), call, takeTurn))
      endTimer()
    }
  }
  verdicts.push(...(await runCustom(custom, call, takeTurn, signal)))
  return [...(await judging), ...verdicts]
}

async function runDetector(detector: Detector, call: Call, takeTurn: TakeTurn): Promise<Verdict> {
  for (const text of call.texts) {
    for (const piece of piecesOf(text)) {
      detector.read(piece)
      await takeTurn()
    }
  }
  return detected(detector.finding())
}

async function runCustom(
  scorers: ChosenScorers['custom'],
  call: Call | null,
  takeTurn: TakeTurn,
  signal: AbortSignal,
): Promise<NamedVerdict[]> {
  const textsFor = call === null ? null : searchablesOf(call)
  const verdicts: NamedVerdict[] = []
  for (const scorer of scorers) {
    const run = startCustomRun(scorer)
    for (const text of textsFor?.(scorer.matchOn) ?? []) {
      run.read(text)
      await takeTurn()
    }
    signal.throwIfAborted()
    const verdict = call === null ? unscored('custom', 'bodies_missing') : run.verdict()
    verdicts.push({
      scorer: scorer.name,
      version: scorer.version,
      owaspCategory: scorer.owaspCategory,
      verdict,
    })
  }
  return verdicts
}

async function runRubric(
  name: BuiltInScorer,
  call: Call | null,
  { judge, rubrics, judgeTextLimit }: ScoringTools,
  signal: AbortSignal,
): Promise<NamedVerdict> {
  const rubric = rubrics.get(name)
  if (rubric === undefined) throw new Error(`no rubric for ${name}`)
  const named = (verdict: Verdict) => ({
    scorer: name,
    version: rubric.version,
    owaspCategory: owaspCategoryOf[name],
    verdict,
  })
  if (call === null) return named(unscored('judge', 'bodies_missing'))
  const material = materialOf(call, judgeTextLimit)
  if (sidesWithText(rubric, material).length === 0) return named(unscored('judge', 'no_text'))
  if (judge === null) return named(unscored('judge', 'no_judge'))
  const result = await judge.judge([rubric], material, signal)
  if (result.kind === 'failed') return named(unscored('judge', result.reason))
  const judgement = result.judgements.get(name)
  if (judgement === undefined) return named(unscored('judge', 'judge_answer_invalid'))
  return named({
    ...judged('judge', findingOf(judgement, call), rubric.failAt),
    judge: { ...result.trace, rubric: rubric.version },
  })
}

function materialOf(call: Call, limit: number): JudgeMaterial {
  const { prompt, answer, toolCalls } = textsOfCall(call.request?.value, call.response?.value)
  const said = [answer, ...toolCalls.map(({ name, arguments: given }) => `[calls ${name}: ${given}]`)]
  return {
    request: windowText(prompt, limit),
    answer: windowText(said.filter((text) => text !== '').join('\n'), limit),
  }
}
