import type { FoldedScores, Verdict } from './fold-verdicts.ts'
import type { PlacedScore } from './place-score.ts'
import { addTo, createTally, dimensionsOf, userDimensionsOf, type RollupRow } from './tally-rollups.ts'

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

type CountedVerdict = Omit<FoldedScores, 'scoreCount'>

/** A new (`before` undefined) or changed verdict of a request. Requests without a verdict are not counted. */
export interface VerdictChange {
  of: Pick<Verdict, 'call' | 'projectUuid' | 'requestCreatedAtMs'>
  before: CountedVerdict | undefined
  after: CountedVerdict | undefined
}

/** What changed verdicts add to and subtract from `call_rollups` and `user_rollups`. */
export function countVerdicts(changes: readonly VerdictChange[]): Record<'calls' | 'users', RollupRow[]> {
  const calls = createTally()
  const users = createTally()
  for (const { of, before, after } of changes) {
    const at = [of.projectUuid, of.requestCreatedAtMs] as const
    const counted = [calls.sumsOf(...at, dimensionsOf(of.call))]
    if (of.call.user_id !== null) counted.push(users.sumsOf(...at, userDimensionsOf(of.call)))
    for (const sums of counted) {
      if (before !== undefined) countVerdict(sums, before, -1)
      if (after !== undefined) countVerdict(sums, after, 1)
    }
  }
  return { calls: calls.rows(), users: users.rows() }
}

/** What changed readings add to and subtract from `verdict_rollups`. */
export function countReadings(changes: readonly VerdictChange[]): RollupRow[] {
  const tally = createTally()
  for (const { of, before, after } of changes) {
    if (before?.reading === after?.reading) continue
    for (const [reading, by] of [
      [before?.reading, -1],
      [after?.reading, 1],
    ] as const) {
      // Not derived yet: counted when it is.
      if (reading === undefined || reading === null) continue
      const dimensions = { ...dimensionsOf(of.call), verdict: reading.verdict }
      const sums = tally.sumsOf(of.projectUuid, of.requestCreatedAtMs, dimensions)
      addTo(sums, 'calls', by)
      addTo(sums, 'decided', by * reading.decided)
      addTo(sums, 'applicable', by * reading.applicable)
    }
  }
  return tally.rows()
}

export function countVerdict(
  sums: RollupRow['sums'],
  { worstLabel, worstSeverity }: CountedVerdict,
  by: 1 | -1,
): void {
  addTo(sums, `verdict_${worstLabel}`, by)
  if (worstSeverity !== null) addTo(sums, `severity_${worstSeverity}`, by)
}
