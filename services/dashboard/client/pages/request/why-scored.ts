import type { Score } from './request-detail.ts'

const reasons: Readonly<Record<string, string>> = {
  judge_unavailable: 'The judge did not answer: away, too slow, or over its rate.',
  judge_answer_invalid: 'The judge answered twice with something that is no judgement.',
  judge_refused: 'The judge declined to read the call.',
  judge_saw_part: 'The judge found nothing unsafe, and was shown only a part of a long text.',
  no_text: 'There is no text of the kind that this scorer reads.',
  bodies_missing: 'The bodies were gone.',
  too_many_parts: 'The call holds more objects, arrays and strings than are read.',
  no_context: 'There is nothing to hold the answer against: no retrieved text and no result of a tool.',
  detectors_undecided: 'Detectors found no proof and cannot vouch for the call; no judge was asked.',
  budget_spent: 'What the judge may cost in this period is spent.',
  no_price: 'There is a budget, and the price of the judge is not known.',
  too_slow: 'Detectors took longer on this call than they may.',
  detector_failed: 'A detector failed on this call: a defect of Sluice itself. Please report it.',
}

/** The explanation of a score. For unscored ones the rationale only repeats the reason. */
export function whyScored({ reason, rationale }: Pick<Score, 'reason' | 'rationale'>): string | null {
  return reason === null ? rationale : (reasons[reason] ?? rationale ?? reason)
}
