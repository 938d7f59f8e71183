import { classOfReason, type UnscoredClass } from './unscored.ts'
import type { ScoreLabel } from './verdicts.ts'

/**
 * What the scores of a call say together. `no_finding`: each applicable scorer read it and found nothing.
 * `partly_read`: a scorer did not read it, or does not cover its language or kind. `not_read`: none did.
 */
export const callVerdicts = ['unsafe', 'partly_read', 'not_read', 'no_finding'] as const
export type CallVerdict = (typeof callVerdicts)[number]

/** A call's verdict and what it rests on. */
export interface CallReading {
  verdict: CallVerdict
  /** Scores that are `safe` or `unsafe`. */
  decided: number
  /** Scores of scorers that the call has something for. */
  applicable: number
  /** Scorers that did not read the call, or do not cover it; in order, each once. */
  unreadScorers: readonly string[]
}

/** What of a score the reading needs. */
export interface ReadScore {
  scorer_name: string
  score_label: ScoreLabel
  reason: string | null
}

/** The reading of a call without scores: joining it changes nothing. */
const nothing: CallReading = { verdict: 'no_finding', decided: 0, applicable: 0, unreadScorers: [] }

/** The class of an `unscored` score; null for others. Without a reason it counts as not read. */
export function unscoredClassOf({
  score_label,
  reason,
}: Omit<ReadScore, 'scorer_name'>): UnscoredClass | null {
  return score_label === 'unscored' ? classOfReason(reason ?? '') : null
}

/** What a call's live scores say together, in any order. */
export function readScores(scores: readonly ReadScore[]): CallReading {
  return scores.map(readScore).reduce(joinReadings, nothing)
}

/** What one score says of its call. */
export function readScore(score: ReadScore): CallReading {
  const unscored = unscoredClassOf(score)
  if (unscored === 'not_applicable') return nothing
  const isUnread = unscored === 'outside' || unscored === 'not_read'
  return {
    verdict: score.score_label === 'unsafe' ? 'unsafe' : verdictOfClass(unscored),
    decided: unscored === null ? 1 : 0,
    applicable: 1,
    unreadScorers: isUnread ? [score.scorer_name] : [],
  }
}

function verdictOfClass(unscored: UnscoredClass | null): CallVerdict {
  if (unscored === 'not_read') return 'not_read'
  return unscored === 'outside' ? 'partly_read' : 'no_finding'
}

/** What two sets of a call's scores say together. The scores themselves are not needed again. */
export function joinReadings(one: CallReading, other: CallReading): CallReading {
  return {
    verdict: joinVerdicts(one, other),
    decided: one.decided + other.decided,
    applicable: one.applicable + other.applicable,
    unreadScorers: [...new Set([...one.unreadScorers, ...other.unreadScorers])].sort(),
  }
}

function joinVerdicts(one: CallReading, other: CallReading): CallVerdict {
  if (one.applicable === 0) return other.verdict
  if (other.applicable === 0 || one.verdict === other.verdict) return one.verdict
  return one.verdict === 'unsafe' || other.verdict === 'unsafe' ? 'unsafe' : 'partly_read'
}
