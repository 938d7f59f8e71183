import { z } from 'zod'
import { projectScorerDefinition, projectScorerFields, projectScorerKinds } from '#schemas/project-scorer.ts'
import { blockedReasons } from '../stores/scorer-list-store.ts'
import { previewStatuses } from '../stores/scorer-preview-store.ts'

const count = z.number().int()

export const listedScorerSchema = z.object({
  id: z.string().nullable().describe('Of a scorer that the project made; null: of another.'),
  name: z.string(),
  origin: z.enum(['built_in', 'file', 'project']),
  kind: z.enum(['built_in', 'file', ...projectScorerKinds]),
  description: z.string().nullable(),
  severity: z.string().nullable().describe('Null: by the value of each score.'),
  owasp_category: z.string().nullable(),
  version: z.string().nullable().describe('Of the scores that it writes now; null: no scorer has started.'),
  judge_version: z
    .string()
    .nullable()
    .describe('Of the scores that the judge decides; null: it decides none.'),
  enabled: z.boolean(),
  blocked_by: z
    .enum(blockedReasons)
    .nullable()
    .describe(
      "Why it decides nothing: switched `off`, not in the project's `tier`, its name is taken by `evals/scorers.yaml` (`name_in_file`), or it needs a judge. Null: it runs.",
    ),
  fail_at: z.number().nullable().describe('The lowest unsafe value; null: it has no threshold.'),
  default_fail_at: z.number().nullable(),
  rescore_suggested: z
    .object({ from_version: z.string(), to_version: z.string() })
    .nullable()
    .describe('Scores of the last days are by an older version: `POST /api/score-runs` scores them again.'),
  updated_by: z.string().nullable(),
  updated_at: z.iso.datetime().nullable(),
})

const inputFields = {
  definition: projectScorerDefinition,
  description: projectScorerFields.description,
  severity: projectScorerFields.severity,
  owasp_category: projectScorerFields.owasp_category,
}

export const createScorerSchema = z.strictObject({
  name: projectScorerFields.name,
  definition: inputFields.definition,
  severity: inputFields.severity,
  description: inputFields.description.default(null),
  owasp_category: inputFields.owasp_category.default(null),
  enabled: z.boolean().default(false).describe('Preview it first.'),
})
export const changeScorerSchema = z.strictObject({ ...inputFields, enabled: z.boolean() }).partial()

export const projectScorerSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  ...inputFields,
  enabled: z.boolean(),
  version: count,
  scorer_version: z.string().describe('As its scores name it.'),
  created_by: z.string(),
  updated_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export const scorerVersionSchema = z.object({
  version: count,
  ...inputFields,
  created_by: z.string(),
  created_at: z.iso.datetime(),
})

export const previewSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  status: z.enum(previewStatuses),
  days: count,
  reviews_of: z.string().nullable(),
  problem: z.string().nullable(),
  report: z
    .object({
      planned: count.describe('The calls that were to be looked at.'),
      calls: count.describe('Those that were.'),
      hits: count,
      unscored: count,
      unreadable: count,
      without_bodies: count,
      stopped_by: z
        .enum(['time', 'budget', 'judge'])
        .nullable()
        .describe('Null: nothing; all were looked at.'),
      cost_usd: z.number().nullable().describe("The judge's; null: none, or unknown."),
      reviews: z
        .object({ calls: count, agreed: count, false_alarms: count, missed: count })
        .describe('Of the calls that have reviews: whether it finds those that somebody called unsafe.'),
    })
    .nullable()
    .describe('Null: not finished.'),
  hits: z
    .array(
      z.object({
        request_id: z.string(),
        created_at: z.iso.datetime(),
        score_value: z.number().nullable(),
        rationale: z.string(),
        expected: z.enum(['safe', 'unsafe']).nullable().describe('By its reviews; null: it has none.'),
        matches: z.array(
          z.object({
            part: z.string(),
            pointer: z.string().nullable(),
            kind: z.string(),
            text: z.string().describe('What matched, identifiers masked.'),
          }),
        ),
      }),
    )
    .describe('At most 50.'),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
})
