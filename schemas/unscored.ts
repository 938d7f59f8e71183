/** What an `unscored` verdict says about the call. */
export const unscoredClasses = ['not_applicable', 'undecided', 'outside', 'not_read'] as const
export type UnscoredClass = (typeof unscoredClasses)[number]

interface ReasonMeaning {
  class: UnscoredClass
  /** For people; stored as the score's rationale. */
  text: string
}

const notApplicable = (text: string) => ({ class: 'not_applicable', text }) as const
const outside = (text: string) => ({ class: 'outside', text }) as const
const notRead = (text: string) => ({ class: 'not_read', text }) as const

/**
 * Why a score is `unscored`. Not applicable: the call has nothing that the scorer judges. Undecided: inside
 * the scorer's domain, looked at, nothing found. Outside: a language or kind that the scorer does not cover.
 * Not read: the text, or part of it, reached no scorer, or the judge failed.
 */
export const unscoredReasons = {
  no_text: notApplicable('The call has no text of the kind that this scorer reads.'),
  no_context: notApplicable('The call carries no retrieved or supplied text to check the answer against.'),
  no_system_prompt: notApplicable('The call has no system prompt that could leak.'),
  no_tools: notApplicable('The call offers no tools and calls none.'),
  detectors_undecided: {
    class: 'undecided',
    text: 'The detectors found nothing, and cannot vouch for what they did not find.',
  },
  language_not_covered: outside('The text is in a language that the detectors of this scorer do not cover.'),
  kind_not_covered: outside('The text is of a kind that the detectors of this scorer do not cover.'),
  not_kept_whole: notRead('A body was cut when it was recorded; nothing was found in what is left.'),
  not_masked: notRead('A body could not be masked before the call was stored, and was left out.'),
  not_decodable: notRead('Part of the call is no text, or in an encoding that is not decoded.'),
  bodies_missing: notRead('The bodies of this call are gone.'),
  too_many_parts: notRead('The call has more objects, arrays and strings than are read.'),
  too_slow: notRead('Detectors twice took more processor time for this call than DETECTOR_TIMEOUT_MS.'),
  detector_failed: notRead('A detector failed on this call: a defect of Sluice, logged by the scorer.'),
  judge_unavailable: notRead('The judge model did not answer in time.'),
  judge_answer_invalid: notRead('The judge model twice gave an answer that is no judgement.'),
  judge_refused: notRead('The judge model declined to read this call.'),
  judge_saw_part: notRead('The judge model found nothing unsafe in the part of the call that it was shown.'),
  budget_spent: notRead("The judge's budget for this period is spent."),
  no_price: notRead("The judge has a budget, and its model's price is not known."),
} as const satisfies Record<string, ReasonMeaning>

export type UnscoredReason = keyof typeof unscoredReasons

/** The class of a stored reason. An unknown one (of a later version) counts as not read, never as clean. */
export function classOfReason(reason: string): UnscoredClass {
  const isKnown = Object.hasOwn(unscoredReasons, reason)
  return isKnown ? unscoredReasons[reason as UnscoredReason].class : 'not_read'
}
