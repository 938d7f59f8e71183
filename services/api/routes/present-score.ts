import { z } from 'zod'
import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { unscoredClassOf } from '#schemas/call-reading.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { unscoredClasses } from '#schemas/unscored.ts'
import { scoreLabels, scoreMethods, severities } from '#schemas/verdicts.ts'
import type { Principal } from '#http/access/principal.ts'
import { mayReadContent } from '../people/authenticate-people.ts'
import type { StoredScore } from '../stores/score-store.ts'

const nullableNumber = z.number().nullish()
/** The judge's model and cost, without its raw answer. */
const judgeSchema = z.object({
  model: z.string(),
  rubric: z.string().describe('Including its version.'),
  cost_usd: nullableNumber.describe('Cost of one call, for all scorers of the request.'),
  prompt_tokens: nullableNumber,
  completion_tokens: nullableNumber,
  asked_together: nullableNumber.describe('The number of those scorers.'),
  latency_ms: nullableNumber,
  failed: z
    .string()
    .nullish()
    .describe(
      "Why the judge gave no verdict and the detector's stands. Null or absent: the verdict is the judge's.",
    ),
})

/** A score as clients see it. */
export const scoreSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  request_id: z.string(),
  run_id: z.string(),
  scorer_name: z.string(),
  score_value: z.number().min(1).max(5).nullable(),
  score_label: z.enum(scoreLabels),
  severity: z.enum(severities).nullable(),
  method: z.enum(scoreMethods),
  scorer_version: z.string(),
  owasp_category: z.string().nullable(),
  reason: z.string().nullable().describe('Why it is `unscored`.'),
  unscored_class: z
    .enum(unscoredClasses)
    .nullable()
    .describe('What that says of the call (docs/verdicts.md). Null: not `unscored`.'),
  created_at: z.iso.datetime(),
  suppressed_by: z
    .string()
    .nullable()
    .describe('The suppression that marked it as a known false alarm when it was stored.'),
  found_values: z
    .array(z.object({ kind: z.string(), tool: z.string().nullable(), has_hash: z.boolean() }))
    .nullable()
    .describe(
      'Different values that an unsafe score found, at most ten: a suppression of one names its place in this list. Null once erased, and for users who may not read bodies.',
    ),
  rationale: z.string().nullable().describe('Null once erased, and for users who may not read bodies.'),
  evidence: z.unknown().describe('What the scorer found; null: nothing, or erased.'),
  judge: judgeSchema.nullable().describe('Null: no judge was used, or erased.'),
})

const detailsSchema = z.object({
  rationale: z.string().nullish(),
  evidence: z.unknown(),
  judge: judgeSchema.nullish(),
})

/** The scores as this caller may see them, without quotes of bodies that they may not read. */
export function shownTo(principal: Principal, scores: readonly StoredScore[]): StoredScore[] {
  return mayReadContent(principal)
    ? [...scores]
    : scores.map((score) => ({ ...score, details: null, found_values: null }))
}

export function presentScore(
  { details, ...score }: StoredScore,
  sealer: Sealer,
): z.output<typeof scoreSchema> {
  const opened =
    details === null ? {} : openDetails({ id: score.id, project_id: score.project_id, details }, sealer)
  return {
    ...score,
    unscored_class: unscoredClassOf(score),
    rationale: opened.rationale ?? null,
    evidence: opened.evidence ?? null,
    judge: opened.judge ?? null,
  }
}

function openDetails(
  {
    id,
    project_id,
    details,
  }: Pick<StoredScore, 'id' | 'project_id'> & { details: NonNullable<StoredScore['details']> },
  sealer: Sealer,
): Partial<z.output<typeof detailsSchema>> {
  try {
    const json = sealer.open(details, sealedIdentity(project_id, id, 'score_details')).toString('utf8')
    return detailsSchema.parse(JSON.parse(json))
  } catch (error) {
    // The score is readable and a list must not fail for a missing key: the rationale names the problem.
    if (error instanceof PermanentError) return { rationale: `not readable here: ${error.message}` }
    throw error
  }
}
