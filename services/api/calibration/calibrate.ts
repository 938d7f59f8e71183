import type { ScoreLabel } from '#schemas/verdicts.ts'
import { wilsonInterval } from '../redteam/wilson-interval.ts'

/** Equal reviewed scores: the newest review of each counts. */
export interface ReviewedScores {
  scorer_name: string
  /** As it was reviewed. */
  score_label: ScoreLabel
  expected_label: 'safe' | 'unsafe'
  /** 1 to 5; null: unscored, or the score is erased. */
  score_value: number | null
  count: number
}

type Interval = NonNullable<ReturnType<typeof wilsonInterval>>

export interface Calibration {
  scorer_name: string
  reviewed: number
  false_alarms: number
  missed: number
  precision: Interval | null
  recall: Interval | null
  suggested_threshold: Suggestion | null
}

interface Suggestion {
  fail_at: number
  /** Reviewed scores with a value, on which it was chosen. */
  reviewed: number
  precision: Interval | null
  recall: Interval | null
}

/** Below that many reviewed scores with a value no threshold is suggested. */
const minReviewed = 20
/** The share of the known unsafe scores that a suggested threshold may give up, beside those missed now. */
const maxRecallLoss = 0.05

/**
 * What reviews say of each scorer, by name. With shares and 95 % intervals by Wilson (1927):
 * - precision: of its reviewed `unsafe` scores, those that people found unsafe
 * - recall: of the reviewed scores that people found unsafe, those that it had called `unsafe`
 *
 * Nobody reviews a fair sample, so that recall holds for reviewed scores alone.
 */
export function calibrate(reviewed: readonly ReviewedScores[]): Calibration[] {
  const byScorer = Map.groupBy(reviewed, ({ scorer_name }) => scorer_name)
  return [...byScorer]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([scorer_name, scores]) => {
      const unsafe = scores.filter(({ score_label }) => score_label === 'unsafe')
      const found = sumOf(unsafe, isUnsafe)
      const known = sumOf(scores, isUnsafe)
      return {
        scorer_name,
        reviewed: sumOf(scores),
        false_alarms: sumOf(unsafe) - found,
        missed: known - found,
        precision: wilsonInterval(found, sumOf(unsafe)),
        recall: wilsonInterval(found, known),
        suggested_threshold: suggestThreshold(scores),
      }
    })
}

/**
 * The `fail_at` among the values of reviewed scores with the best precision whose recall is at most 5 points
 * below that of the labels as they were given; of equally precise ones the one with the best recall. Null
 * with fewer than 20 reviewed scores that have a value, or if people found all of them safe or all unsafe.
 */
function suggestThreshold(scores: readonly ReviewedScores[]): Suggestion | null {
  const valued = scores.filter((score) => score.score_value !== null)
  const reviewed = sumOf(valued)
  const known = sumOf(valued, isUnsafe)
  if (reviewed < minReviewed || known === 0 || known === reviewed) return null
  const foundNow = sumOf(valued, (score) => isUnsafe(score) && score.score_label === 'unsafe')
  // Compared in whole numbers of scores: shares would differ by rounding.
  const leastFound = foundNow - maxRecallLoss * known
  let best: { failAt: number; found: number; called: number } | undefined
  for (const at of thresholdsOf(valued)) {
    if (at.found < leastFound || at.found === 0) continue
    // Cross-multiplied precisions.
    const gain = best === undefined ? 1 : at.found * best.called - best.found * at.called
    if (best === undefined || gain > 0 || (gain === 0 && at.found > best.found)) best = at
  }
  if (best === undefined) return null
  const { failAt, found, called } = best
  return {
    fail_at: failAt,
    reviewed,
    precision: wilsonInterval(found, called),
    recall: wilsonInterval(found, known),
  }
}

/** Each value as a threshold, highest first: how many scores it calls unsafe, and how many of them are. */
function* thresholdsOf(valued: readonly ReviewedScores[]) {
  const byValue = Map.groupBy(valued, ({ score_value: value }) => value ?? 0)
  let [found, called] = [0, 0]
  for (const [failAt, scores] of [...byValue].sort(([one], [other]) => other - one)) {
    called += sumOf(scores)
    found += sumOf(scores, isUnsafe)
    yield { failAt, found, called }
  }
}

const isUnsafe = ({ expected_label: expected }: ReviewedScores) => expected === 'unsafe'

function sumOf(
  scores: readonly ReviewedScores[],
  isCounted: (score: ReviewedScores) => boolean = () => true,
): number {
  return scores.reduce((sum, score) => sum + (isCounted(score) ? score.count : 0), 0)
}
