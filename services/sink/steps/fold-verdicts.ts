import type { CallContext } from '#schemas/call-context.ts'
import { liveRunId } from '#schemas/ids.ts'
import { severities, type ScoreLabel, type Severity } from '#schemas/verdicts.ts'
import type { PlacedScore } from './place-score.ts'

/** What is kept of a request's live scores for filters. */
export interface Verdict {
  call: Pick<CallContext, 'source' | 'model' | 'provider' | 'agent_name'>
  projectUuid: string
  requestUuid: string
  requestCreatedAtMs: number
  worstLabel: ScoreLabel
  worstSeverity: Severity | null
  scoreCount: number
}

/** From best to worst. `unscored` is worse than `safe`: a judge's failure never counts as safe. */
const labelsByBadness: readonly ScoreLabel[] = ['safe', 'unscored', 'unsafe']

/** One verdict for each request, from its scores in the live run, in the order of their keys. */
export function foldVerdicts(scores: readonly PlacedScore[]): Verdict[] {
  const verdicts = new Map<string, Verdict>()
  for (const placed of scores) {
    if (placed.call.run_id !== liveRunId(placed.call.project_id)) continue
    const identity = `${placed.projectUuid}/${placed.requestUuid}`
    const before = verdicts.get(identity)
    verdicts.set(identity, before === undefined ? firstVerdict(placed) : addScore(before, placed))
  }
  return [...verdicts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, verdict]) => verdict)
}

function firstVerdict({ score, ...placed }: PlacedScore): Verdict {
  return {
    call: placed.call,
    projectUuid: placed.projectUuid,
    requestUuid: placed.requestUuid,
    requestCreatedAtMs: placed.requestCreatedAtMs,
    worstLabel: score.score_label,
    worstSeverity: score.severity,
    scoreCount: 1,
  }
}

function addScore(verdict: Verdict, { score }: PlacedScore): Verdict {
  return joinVerdicts(verdict, {
    worstLabel: score.score_label,
    worstSeverity: score.severity,
    scoreCount: 1,
  })
}

/** `verdict` with what `other` says of the same request's other scores. */
export function joinVerdicts(
  verdict: Verdict,
  other: Pick<Verdict, 'worstLabel' | 'worstSeverity' | 'scoreCount'>,
): Verdict {
  return {
    ...verdict,
    worstLabel: worse(labelsByBadness, verdict.worstLabel, other.worstLabel),
    worstSeverity: worse([null, ...severities], verdict.worstSeverity, other.worstSeverity),
    scoreCount: verdict.scoreCount + other.scoreCount,
  }
}

function worse<T>(fromBest: readonly T[], one: T, other: T): T {
  return fromBest.indexOf(other) > fromBest.indexOf(one) ? other : one
}
