import { unscoredReasons, type UnscoredReason } from '#schemas/unscored.ts'
import type { Score } from './request-detail.ts'

/** The explanation of a score. For unscored ones the rationale only repeats the reason. */
export function explainScore({ reason, rationale }: Pick<Score, 'reason' | 'rationale'>): string | null {
  return reason === null ? rationale : (textOf(reason) ?? rationale ?? reason)
}

function textOf(reason: string): string | undefined {
  return Object.hasOwn(unscoredReasons, reason) ? unscoredReasons[reason as UnscoredReason].text : undefined
}
