import type { Score } from '#schemas/safety-score-recorded.ts'
import type { ScoreLabel } from '#schemas/verdicts.ts'

/** The label that events and log lines carry (specification 2.3): `unsafe` is `fail` there. */
export function labelInEvents(label: ScoreLabel): 'safe' | 'fail' | 'unscored' {
  return label === 'unsafe' ? 'fail' : label
}

/** The value that events and log lines carry: a fraction, 0 (safe) to 1 (unsafe); null when unscored. */
export function fractionOf(score: Pick<Score, 'score_value'>): number | null {
  return score.score_value === null ? null : (score.score_value - 1) / 4
}
