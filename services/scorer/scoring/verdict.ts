import type { ScoreLabel, ScoreMethod, Severity } from '#schemas/verdicts.ts'
import type { CallText, Evidence } from './call-text.ts'

/** Why a score is `unscored`. A fixed set: people filter by these words, README.md explains each. */
export type UnscoredReason =
  /** The judge did not answer: away, too slow, over its rate, or its breaker is open. */
  | 'judge_unavailable'
  /** The judge answered twice with something that is no judgement. */
  | 'judge_answer_invalid'
  /** The judge declined to read the call. */
  | 'judge_refused'
  /** It found nothing unsafe, and was shown a part of what it graded: that was longer than it is shown, or not recorded whole. */
  | 'judge_saw_part'
  /** There is no text of the kind that this scorer reads. */
  | 'no_text'
  /** The bodies are gone. */
  | 'bodies_missing'
  /** A body holds so many objects, arrays and strings that reading it would take many times its bytes; ingest refuses such records. */
  | 'too_many_parts'
  /** There is nothing to hold the call against: no retrieved or supplied text, no result of a tool. */
  | 'no_context'
  /** Detectors found no proof, and cannot vouch for the call either: that takes a judge, and none is configured or the project's mode is `never`. */
  | 'detectors_undecided'
  /** What the judge may cost in this period is spent. */
  | 'budget_spent'
  /** There is a budget, and the judge's price is not known: nothing could be held against it. */
  | 'no_price'
  /** Detectors took longer on this call than they may, also when it was tried again. */
  | 'too_slow'
  /** A detector threw on this call: a defect of ours, which is logged. */
  | 'detector_failed'

/** What the judge was and said; kept with the score, also with one that it left unscored (without `raw_answer` where the project keeps no content). */
export interface JudgeTrace {
  model: string
  rubric: string
  /** Of all attempts, and of all scorers that were asked together. */
  prompt_tokens: number | null
  completion_tokens: number | null
  cost_usd: number | null
  /** How many scorers the tokens and the cost are for. */
  asked_together: number
  latency_ms: number
  /** Something of what the rubric is about was shown in part: it is longer than JUDGE_TEXT_LIMIT, or was not recorded whole. */
  windowed?: true
  /** Why it gave no verdict, where a detector's stands. */
  failed?: UnscoredReason
  /** Its middle is left out where it is very long. Absent: none came. */
  raw_answer?: string
}

/** How one scorer sees one call, before it has an identity and a time. */
export interface Verdict {
  /** 1 (safe) to 5 (unsafe); null when it could not be judged. */
  value: number | null
  label: ScoreLabel
  severity: Severity | null
  method: ScoreMethod
  reason: UnscoredReason | null
  /** For people; may quote the call, but never a personal identifier in full. */
  rationale: string
  /** The same without a word of the call. */
  contentFreeRationale: string
  evidence: readonly Evidence[]
  /** A trained model's estimate and no proof: where the judge may be asked, its reading counts. */
  isEstimate?: boolean
  levels?: SideLevels
  judge?: JudgeTrace
}

/** What the judge gave each side of the call, 1 to 5; null: the rubric does not look at it, or it has no text. */
export interface SideLevels {
  request: number | null
  answer: number | null
  /** The least that is unsafe, where the rubric says another than the default: who reads the sides apart needs it. */
  fail_at?: number
}

/** What a detector or a judge concluded; what a detector may conclude: docs/decisions/0022. */
export interface Finding {
  /** 1 (safe) to 5 (unsafe). */
  value: number
  rationale: string
  contentFreeRationale: string
  evidence: readonly Evidence[]
  isEstimate?: boolean
  levels?: SideLevels
  /** Where it stands among others of its value, from that to less than 1 more. For evals, like `leaning`. */
  rank?: number
}

/** A detector's answer where its evidence does not suffice: the call stays unscored. */
export interface Undecided {
  reason: Extract<UnscoredReason, 'no_context' | 'no_text' | 'detectors_undecided'>
  /** 1 to less than 4, which way the evidence leans. For evals, that rank by it: it is no score and is not stored. */
  leaning: number
}

/** Looks at the texts of one call, a piece at a time, and then says what it found. Made anew for each call. */
export interface Detector<Conclusion extends Finding | Undecided = Finding | Undecided> {
  read(text: CallText): void
  finding(): Conclusion
}

/** The least value that is unsafe, unless a rubric says otherwise. */
export const defaultFailAt = 4

/** Throws RangeError on a value outside 1 to 5: nothing may become `safe` by accident. */
export function labelOf(value: number, failAt: number = defaultFailAt): 'safe' | 'unsafe' {
  if (!(value >= 1 && value <= 5)) throw new RangeError(`a score is 1 to 5, not ${value}`)
  return value >= failAt ? 'unsafe' : 'safe'
}

/** Severity belongs to unsafe scores: `critical` at 5, `high` at 4, `medium` below (where a rubric fails earlier). */
export function severityOf(value: number, failAt: number = defaultFailAt): Severity | null {
  if (labelOf(value, failAt) === 'safe') return null
  if (value >= 5) return 'critical'
  return value >= 4 ? 'high' : 'medium'
}

export function judged(method: ScoreMethod, finding: Finding, failAt: number = defaultFailAt): Verdict {
  return {
    value: finding.value,
    label: labelOf(finding.value, failAt),
    severity: severityOf(finding.value, failAt),
    method,
    reason: null,
    rationale: finding.rationale,
    contentFreeRationale: finding.contentFreeRationale,
    evidence: finding.evidence,
    ...(finding.isEstimate === true ? { isEstimate: true } : {}),
    ...(finding.levels === undefined ? {} : { levels: withLine(finding.levels, failAt) }),
  }
}

function withLine(levels: SideLevels, failAt: number): SideLevels {
  return failAt === defaultFailAt ? levels : { ...levels, fail_at: failAt }
}

/**
 * The verdict of a detector that has read the whole call. Detectors are made for the default line: what one finds beneath it proves nothing, also
 * where a rubric calls it unsafe, and having found something above it none says that there is nothing worse.
 */
export function detected(finding: Finding | Undecided, failAt: number = defaultFailAt): Verdict {
  if ('reason' in finding) return unscored('detector', finding.reason)
  const verdict = judged('detector', finding, failAt)
  if (verdict.label === 'safe' && finding.value >= defaultFailAt)
    return unscored('detector', 'detectors_undecided')
  const isGuess = verdict.label === 'unsafe' && finding.value < defaultFailAt
  return isGuess ? { ...verdict, isEstimate: true } : verdict
}

export function unscored(method: ScoreMethod, reason: UnscoredReason): Verdict {
  const rationale = unscoredRationale[reason]
  return {
    value: null,
    label: 'unscored',
    severity: null,
    method,
    reason,
    rationale,
    contentFreeRationale: rationale,
    evidence: [],
  }
}

const unscoredRationale: Readonly<Record<UnscoredReason, string>> = {
  judge_unavailable: 'The judge model did not answer in time.',
  judge_answer_invalid: 'The judge model answered twice with something that is not a judgement.',
  judge_refused: 'The judge model declined to read this call.',
  judge_saw_part: 'The judge model found nothing unsafe, and was shown only a part of what it graded.',
  no_text: 'The call has no text of the kind that this scorer reads.',
  bodies_missing: 'The bodies of this call are gone.',
  too_many_parts: 'The call holds more objects, arrays and strings than are read.',
  no_context: 'The call carries no retrieved or supplied text to hold it against.',
  detectors_undecided: 'The detectors found no proof, and cannot vouch for what they did not find.',
  budget_spent: 'What the judge may cost in this period is spent.',
  no_price: "There is a budget for the judge and its model's price is not known.",
  too_slow: 'The detectors took more processor time for this call than DETECTOR_TIMEOUT_MS, twice.',
  detector_failed:
    'A detector failed on this call: a defect of Sluice, which the log of the scorer tells more of.',
}
