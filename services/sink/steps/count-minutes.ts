import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { countVerdict, type VerdictChange } from './count-scores.ts'
import type { PlacedScore } from './place-score.ts'
import { addTo, createTally, minuteLengthMs, type RollupRow } from './tally-rollups.ts'

/** What changed verdicts and readings add to and subtract from `call_minutes`. */
export function countVerdictMinutes(changes: readonly VerdictChange[]): RollupRow[] {
  const tally = createTally(minuteLengthMs)
  for (const { of, before, after } of changes) {
    const { source, model, provider, agent_name } = of.call
    const dimensions = { source, model, provider, agent_name }
    const sums = tally.sumsOf(of.projectUuid, of.requestCreatedAtMs, dimensions)
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
  return tally.rows()
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
