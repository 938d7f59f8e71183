import { z } from 'zod'
import { severities } from '#schemas/verdicts.ts'
import { idField, textField, timeField } from '#http/fields.ts'

const count = z.number().int()

export const suppressionSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  scorer_name: z.string(),
  kind: z.string().nullable().describe('Of the evidence. Null: any.'),
  agent_name: z.string().nullable().describe('Null: any.'),
  tool_name: z.string().nullable().describe('Null: any, and none.'),
  has_value: z
    .boolean()
    .describe('Covers one exact value, of which only a keyed hash is kept until it is revoked.'),
  max_severity: z.enum(severities),
  reason: z.string().nullable().describe('Null for viewers: it may quote content.'),
  author: z.string(),
  author_kind: z.enum(['person', 'key', 'operator']),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable().describe('Null: it ends when it is revoked.'),
  revoked_at: z.iso.datetime().nullable(),
  is_active: z.boolean(),
  covered: count.describe('Scores of the live run that it marked.'),
  last_covered_at: z.iso.datetime().nullable(),
})

/** What a suppression covers; all that is given must fit. */
const ruleFields = {
  scorer_name: textField(100),
  kind: textField(200).optional().describe('Of the evidence, as `evidence[].kind` names it.'),
  agent_name: textField(200).optional(),
  tool_name: textField(200).optional().describe('In whose arguments, result or description it was found.'),
  value: textField(16_384)
    .optional()
    .describe('The exact value: case, white space and compatible characters do not matter.'),
  score_id: idField('score').optional().describe('Instead of `value`: a score that found it.'),
  value_index: z
    .number()
    .int()
    .min(0)
    .max(9)
    .optional()
    .describe('Required with `score_id`: the place of the value in its `found_values`.'),
  max_severity: z.enum(severities).default('high').describe('The worst severity that it covers.'),
  expires_at: timeField
    .optional()
    .describe('Required if it covers `critical`: then at most 90 days ahead. Absent: until it is revoked.'),
}

export const previewBody = z.strictObject(ruleFields)
export const createBody = z.strictObject({
  ...ruleFields,
  reason: textField(1_000).describe('Why it is a false alarm.'),
  author: textField(200)
    .default('unknown')
    .describe('The name of the author; users of the dashboard have their login.'),
})
export type RuleBody = z.output<typeof previewBody>

export const previewSchema = z.object({
  start: z.iso.datetime().describe('Requests from then on were compared: of the last 30 days.'),
  examined: count.describe('Unsafe scores that were compared, the newest first, at most 10,000.'),
  is_complete: z.boolean().describe('False: there are more.'),
  covered: count,
  scorers: z.array(z.object({ scorer_name: z.string(), covered: count })),
  sample_request_ids: z.array(z.string()).describe('The five newest requests that it would have covered.'),
})
