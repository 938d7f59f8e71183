import { z } from 'zod'
import { scoreLabels } from '#schemas/verdicts.ts'
import { rowNoteFields } from './note-rows.ts'
import { scoreRunStatuses } from '../stores/score-run-store.ts'

const count = z.number().int()
export const runSchema = z.object({
  id: z.string(),
  project_id: z.string().nullable().describe('Null: of all projects.'),
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  scorers: z.array(z.string()).nullable().describe("Null: those of each call's tier, and the custom ones."),
  source: z.enum(['postgres', 'kafka']),
  alert: z.boolean(),
  status: z.enum(scoreRunStatuses),
  calls_total: count.describe('The number at the time of the order.'),
  calls_fed: count.describe('Queued for the scorers.'),
  calls_scored: count,
  problem: z.string().nullable().describe('What failed or may have failed, also in a finished run.'),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
})
const labelSchema = z.enum(scoreLabels)
export const diffSchema = z.object({
  run_id: z.string(),
  against: z.string(),
  is_complete: z.boolean().describe('False: only the first 100,000 scores were compared.'),
  scorers: z.array(
    z.object({
      scorer_name: z.string(),
      compared: count,
      changed: count,
      changes: z.array(z.object({ before: labelSchema.nullable(), after: labelSchema, count })),
      average_change: z.number().nullable(),
    }),
  ),
  examples: z.array(
    z.object({
      project_id: z.string(),
      request_id: z.string(),
      request_created_at: z.iso.datetime(),
      preview: rowNoteFields.preview,
      scorer_name: z.string(),
      before: z.object({ label: labelSchema.nullable(), value: z.number().nullable() }),
      after: z.object({ label: labelSchema, value: z.number().nullable() }),
    }),
  ),
})
export const estimateSchema = z.object({
  run: runSchema.nullable(),
  calls: count,
  calls_are_exact: z
    .boolean()
    .describe(
      'False: counted in whole hours. With `kafka`: the stored calls, of which the topic may keep fewer.',
    ),
  calls_without_bodies: count.nullable().describe('Their scores will be `unscored`. Null: not counted.'),
  estimated_judge_usd: z
    .number()
    .nullable()
    .describe("Over all scorers, from the judge's cost per call in the current period; null: unknown."),
  problem: z
    .string()
    .nullable()
    .describe('Names those of `scorers` that scored nothing recently; stored with the run. Null: none.'),
})
