import { z } from 'zod'
import type { UnscoredReason } from '#schemas/unscored.ts'
import type { Call, Evidence } from '#detectors/call-text.ts'
import { maskIdentifiers } from '#detectors/pii/detect-pii.ts'
import type { Finding } from '#detectors/verdict.ts'
import type { JudgeMaterial, Shown } from './judge-prompt.ts'
import { sides, type Rubric, type Side } from './rubric.ts'

export interface Judgement {
  requestLevel: number | null
  answerLevel: number | null
  rationale: string
  quotes: readonly string[]
}

/** A scorer that a judge was asked about and cannot decide, with why. */
export interface Unjudged {
  unjudged: UnscoredReason
}

const level = z.number().int().min(1).max(5).nullable()
const answerSchema = z.strictObject({
  check: z.string(),
  scores: z.array(
    z.strictObject({
      scorer: z.string(),
      request_level: level,
      answer_level: level,
      rationale: z.string().min(1).max(4_000),
      quotes: z.array(z.string()).max(20),
    }),
  ),
})

/**
 * Parses a judge's answer. Undefined unless it is the requested JSON with the check word, and each scorer
 * once with a level for every side that has text. Nothing is guessed.
 */
export function readJudgeAnswer(
  text: string,
  rubrics: readonly Rubric<string>[],
  material: JudgeMaterial,
  check: string,
): ReadonlyMap<string, Judgement> | undefined {
  const answer = answerSchema.safeParse(parseJson(text))
  if (!answer.success || answer.data.check !== check) return undefined
  const judgements = new Map<string, Judgement>()
  for (const rubric of rubrics) {
    const [score, another] = answer.data.scores.filter(({ scorer }) => scorer === rubric.scorer)
    if (score === undefined || another !== undefined) return undefined
    const levels = { request: score.request_level, answer: score.answer_level }
    if (sidesWithText(rubric, material).some((side) => levels[side] === null)) return undefined
    judgements.set(rubric.scorer, {
      requestLevel: levelOf('request', rubric, material, levels.request),
      answerLevel: levelOf('answer', rubric, material, levels.answer),
      rationale: score.rationale,
      quotes: score.quotes,
    })
  }
  return judgements
}

/** The sides that a rubric grades and that have text. */
export function sidesWithText(rubric: Pick<Rubric, 'looksAt'>, material: JudgeMaterial): Side[] {
  return rubric.looksAt.filter((side) => material[side].trim() !== '')
}

function levelOf(
  side: Side,
  rubric: Pick<Rubric, 'looksAt'>,
  material: JudgeMaterial,
  given: number | null,
): number | null {
  return sidesWithText(rubric, material).includes(side) ? given : null
}

/** What a rubric covers and the judge saw only in part. */
export function shownInPart(
  { looksAt, sees }: Pick<Rubric, 'looksAt' | 'sees'>,
  { partial }: JudgeMaterial,
): Shown[] {
  return [...looksAt, ...sees, 'turns' as const, 'thoughts' as const].filter((name) => partial.has(name))
}

/** True if a graded side was shown in part: the rest may hold what the judge did not find. */
export function hasPartialSide(parts: readonly Shown[]): boolean {
  return sides.some((side) => parts.includes(side))
}

/**
 * The finding of a judgement; the worse side decides. Quotes that are not in the call are dropped. `parts`:
 * what was shown in part.
 */
export function findingOf(
  { requestLevel, answerLevel, rationale, quotes }: Judgement,
  call: Call,
  parts: readonly Shown[],
): Finding {
  const levels = [requestLevel, answerLevel].filter((given) => given !== null)
  const shown = parts.length === 0 ? '' : ` It was shown a part of: ${parts.join(', ').replaceAll('_', ' ')}.`
  const contentFreeRationale = `The judge gave the request ${nameLevel(requestLevel)} and the answer ${nameLevel(answerLevel)}.${shown}`
  return {
    value: Math.max(...levels),
    rationale: `${maskIdentifiers(rationale.trim())} (${contentFreeRationale})`,
    contentFreeRationale,
    evidence: quotes.slice(0, 3).flatMap((quote) => locate(quote, call)),
    levels: { request: requestLevel, answer: answerLevel },
  }
}

function nameLevel(given: number | null): string {
  return given === null ? 'none' : `level ${given}`
}

function locate(quote: string, call: Call): Evidence[] {
  if (quote.trim().length < 3) return []
  for (const { part, pointer, text } of call.texts) {
    const start = text.indexOf(quote)
    if (start >= 0) return [{ part, pointer, start, end: start + quote.length, kind: 'judge_quote' }]
  }
  return []
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
