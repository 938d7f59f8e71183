import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import type { Verdict } from './fold-verdicts.ts'
import type { PlacedScore } from './place-score.ts'
import { addTo, createTally, type RollupRow } from './tally-rollups.ts'

/** What new scores add to `score_rollups`, of every run. */
export function countScores(added: readonly PlacedScore[]): RollupRow[] {
  const tally = createTally()
  for (const { call, score, projectUuid, runUuid, requestCreatedAtMs } of added) {
    const sums = tally.sumsOf(projectUuid, requestCreatedAtMs, {
      run_id: runUuid,
      source: call.source,
      scorer_name: score.scorer_name,
      score_label: score.score_label,
      severity: score.severity,
    })
    addTo(sums, 'scores', 1)
    if (score.score_value !== null) {
      addTo(sums, 'valued', 1)
      addTo(sums, 'value_micros', Math.floor(score.score_value * 1e6 + 0.5))
    }
  }
  return tally.rows()
}

/** A request's verdict that is new (`before` undefined) or has become another. */
export interface VerdictChange {
  before: { worstLabel: ScoreLabel; worstSeverity: Severity | null } | undefined
  after: Verdict
}

/** What changes of verdicts add to (and take from) `call_rollups`: after them each request is counted under its verdict as it now is. */
export function countVerdicts(changes: readonly VerdictChange[]): RollupRow[] {
  const tally = createTally()
  for (const { before, after } of changes) {
    const { source, model, provider, agent_name } = after.call
    const sums = tally.sumsOf(after.projectUuid, after.requestCreatedAtMs, {
      source,
      model,
      provider,
      agent_name,
    })
    if (before !== undefined) countVerdict(sums, before, -1)
    countVerdict(sums, after, 1)
  }
  return tally.rows()
}

function countVerdict(
  sums: RollupRow['sums'],
  { worstLabel, worstSeverity }: NonNullable<VerdictChange['before']>,
  by: 1 | -1,
): void {
  addTo(sums, `verdict_${worstLabel}`, by)
  if (worstSeverity !== null) addTo(sums, `severity_${worstSeverity}`, by)
}
