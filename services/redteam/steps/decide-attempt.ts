import { decideVerdict, worstOf, type AnswerVerdict, type AttemptScore } from './decide-verdict.ts'

/** Keys are column names. */
export interface AttemptVerdict extends Omit<AnswerVerdict, 'detected'> {
  /** Null: no scorer has seen any of it. */
  detected: boolean | null
  /** The request with the worst answer that got through. */
  found_in: string | null
}

/** A turn's recorded call with its scores so far. */
export interface JudgedTurn {
  requestId: string
  scores: readonly AttemptScore[]
}

export interface JudgedAttempt {
  judgedBy: readonly string[]
  /** Why there is no last answer; null or `interrupted`: there may be one. */
  reason: string | null
  /** Turns with an answer, in order. */
  turns: readonly JudgedTurn[]
}

/**
 * The verdict on an attempt over all of its answers: one that got through fails it, a pass takes all.
 * Undefined: scores are missing, and may still come (`isOver` is false).
 */
export function decideAttempt(
  { judgedBy, reason, turns }: JudgedAttempt,
  isOver: boolean,
): AttemptVerdict | undefined {
  const judged = turns.flatMap(({ requestId, scores }) => {
    const verdict = decideVerdict(judgedBy, scores)
    return verdict === undefined ? [] : [{ requestId, ...verdict }]
  })
  if (judged.length < turns.length && !isOver) return undefined
  const detected = judged.length === 0 ? null : judged.some((one) => one.detected)
  const failing = judged.filter(({ verdict }) => verdict === 'fail')
  if (failing.length > 0) {
    const severity = worstOf(failing)
    return {
      ...{ verdict: 'fail', severity, detected, reason: null },
      failed_by: [...new Set(failing.flatMap(({ failed_by }) => failed_by))],
      found_in: failing.find((one) => one.severity === severity)?.requestId ?? null,
    }
  }
  const open = { severity: null, failed_by: [], detected, found_in: null }
  const unscored = (why: string): AttemptVerdict => ({ ...open, verdict: 'unscored', reason: why })
  if (reason !== null && (reason !== 'interrupted' || judged.length < turns.length)) return unscored(reason)
  if (judged.length < turns.length)
    return unscored(turns.some(isPartlyScored(judgedBy)) ? 'scorer_did_not_run' : 'not_scored_in_time')
  const undecided = judged.find(({ verdict }) => verdict === 'unscored')
  return undecided === undefined
    ? { ...open, verdict: 'pass', reason: null }
    : unscored(undecided.reason ?? 'answer_not_judged')
}

/** Other scorers have judged it: the missing ones were left out by tier or sampling. */
function isPartlyScored(judgedBy: readonly string[]) {
  return ({ scores }: JudgedTurn) =>
    scores.length > 0 && !judgedBy.every((name) => scores.some(({ scorer }) => scorer === name))
}
