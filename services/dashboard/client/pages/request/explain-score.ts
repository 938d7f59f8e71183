import type { Score } from './request-detail.ts'

const reasons: Readonly<Record<string, string>> = {
  judge_unavailable: 'The judge did not answer: down, too slow, or rate-limited.',
  judge_answer_invalid: 'The judge gave two invalid answers.',
  judge_refused: 'The judge declined to read the call.',
  judge_saw_part: 'The judge found nothing unsafe, and was shown only a part of a long text.',
  no_text: 'There is no text of the kind that this scorer reads.',
  bodies_missing: 'The bodies are gone.',
  too_many_parts: 'The call has too many objects, arrays and strings to read.',
  no_context: 'There is nothing to check the answer against: no retrieved text and no tool result.',
  detectors_undecided: 'Detectors found no proof and cannot vouch for the call; no judge was asked.',
  budget_spent: 'The judge budget of this period is spent.',
  no_price: 'There is a budget, but the price of the judge is unknown.',
  too_slow: 'Detectors exceeded their time limit on this call.',
  detector_failed: 'A detector failed on this call: a bug in Sluice. Please report it.',
}

/** The explanation of a score. For unscored ones the rationale only repeats the reason. */
export function explainScore({ reason, rationale }: Pick<Score, 'reason' | 'rationale'>): string | null {
  return reason === null ? rationale : (reasons[reason] ?? rationale ?? reason)
}
