import { hasLabel, type CallLabels, type LabelledOf } from '#schemas/call-labels.ts'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { countVerdict, type VerdictChange } from './count-scores.ts'
import type { PlacedScore } from './place-score.ts'
import { addTo, createTally, dimensionsOf, minuteLengthMs, type RollupRow } from './tally-rollups.ts'

/** What changed verdicts and readings add to and subtract from `call_minutes` and `label_rollups`. */
export function countLabelledVerdicts(
  changes: readonly VerdictChange[],
  labelsOf: (of: LabelledOf) => CallLabels,
): { minutes: RollupRow[]; labels: RollupRow[] } {
  const minutes = createTally(minuteLengthMs)
  const labels = createTally()
  for (const change of changes) {
    const { call, projectUuid, requestCreatedAtMs: createdAtMs } = change.of
    const own = labelsOf({ call, projectUuid, createdAtMs })
    const dimensions = { ...dimensionsOf(call), ...own }
    countChange(minutes.sumsOf(projectUuid, createdAtMs, dimensions), change)
    if (hasLabel(own)) countChange(labels.sumsOf(projectUuid, createdAtMs, dimensions), change)
  }
  return { minutes: minutes.rows(), labels: labels.rows() }
}

function countChange(sums: RollupRow['sums'], { before, after }: VerdictChange): void {
  for (const [folded, by] of [
    [before, -1],
    [after, 1],
  ] as const) {
    if (folded === undefined) continue
    countVerdict(sums, folded, by)
    const { reading } = folded
    if (reading === null) continue
    addTo(sums, 'readings', by)
    if (reading.verdict === 'not_read') addTo(sums, 'not_read', by)
  }
}

/** What new scores of the live run add to `score_minutes`. Suppressed ones are no longer unsafe there. */
export function countScoreMinutes(added: readonly PlacedScore[]): RollupRow[] {
  const tally = createTally(minuteLengthMs)
  for (const { call, score, projectUuid, runUuid, requestCreatedAtMs, suppressions } of added) {
    if (runUuid !== idToUuid(liveRunId(call.project_id))) continue
    const sums = tally.sumsOf(projectUuid, requestCreatedAtMs, {
      source: call.source,
      scorer_name: score.scorer_name,
      score_label: suppressions.length > 0 ? 'suppressed' : score.score_label,
      severity: score.severity,
    })
    addTo(sums, 'scores', 1)
  }
  return tally.rows()
}
