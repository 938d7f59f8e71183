import type { CallContext } from '#schemas/call-context.ts'
import { joinReadings, readScore, type CallReading } from '#schemas/call-reading.ts'
import { liveRunId } from '#schemas/ids.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { severities, type ScoreLabel, type Severity } from '#schemas/verdicts.ts'
import type { PlacedScore } from './place-score.ts'

/** What a request's live scores say together. */
export interface FoldedScores {
  worstLabel: ScoreLabel
  worstSeverity: Severity | null
  scoreCount: number
  /** Null: not derived yet, because a version without readings stored the verdict. */
  reading: CallReading | null
}

/** The fields by which calls are counted. */
export type CountedBy = 'source' | 'model' | 'provider' | 'agent_name' | 'tool_name' | 'metadata' | 'user_id'

/** What is kept of a request's live scores for filters. */
export interface Verdict extends FoldedScores {
  call: Pick<CallContext, CountedBy>
  projectUuid: string
  requestUuid: string
  requestCreatedAtMs: number
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
    const folded = foldScore(placed.score)
    verdicts.set(
      identity,
      before === undefined ? { ...keyOf(placed), ...folded } : joinVerdicts(before, folded),
    )
  }
  return [...verdicts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, verdict]) => verdict)
}

function keyOf({ call, projectUuid, requestUuid, requestCreatedAtMs }: PlacedScore) {
  return { call, projectUuid, requestUuid, requestCreatedAtMs }
}

/** What one score says of its request. */
export function foldScore(
  score: Pick<Score, 'scorer_name' | 'score_label' | 'severity' | 'reason'>,
): FoldedScores {
  return {
    worstLabel: score.score_label,
    worstSeverity: score.severity,
    scoreCount: 1,
    reading: readScore(score),
  }
}

/** `verdict` with what `other` says of the same request's other scores. */
export function joinVerdicts<V extends FoldedScores>(verdict: V, other: FoldedScores): V {
  return {
    ...verdict,
    worstLabel: worse(labelsByBadness, verdict.worstLabel, other.worstLabel),
    worstSeverity: worse([null, ...severities], verdict.worstSeverity, other.worstSeverity),
    scoreCount: verdict.scoreCount + other.scoreCount,
    reading:
      verdict.reading === null || other.reading === null
        ? null
        : joinReadings(verdict.reading, other.reading),
  }
}

function worse<T>(fromBest: readonly T[], one: T, other: T): T {
  return fromBest.indexOf(other) > fromBest.indexOf(one) ? other : one
}
