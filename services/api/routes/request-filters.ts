import { z } from 'zod'
import { callVerdicts } from '#schemas/call-reading.ts'
import { scoreLabels, severities } from '#schemas/verdicts.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { refuseTogether } from '../http/paging.ts'
import { refuseEndBeforeStart } from '../http/time-range.ts'
import { recordSources } from '../http/source-filter.ts'
import { reviewFilters } from '../stores/review-filter.ts'
import { labelFilters, statusFilters, type RequestFilters } from '../stores/select-requests.ts'
import { readMetadata } from './metadata-fields.ts'
import { operatorFields, readComparisons } from './operator-fields.ts'

/** Query parameters that select requests, besides up to ten by metadata. */
export const requestFilterFields = {
  project_id: idField('project').optional().describe('For the operator; a key has its own.'),
  ...recordSources.fields,
  model: textField(256).optional(),
  provider: textField(64).optional(),
  agent_name: textField(256).optional(),
  agent_tag: textField(256).optional(),
  session_id: textField(256).optional(),
  user_id: textField(256).optional(),
  type: textField(256).optional().describe('For instance `mcp_tool_call`.'),
  tool_name: textField(256).optional(),
  label: z
    .enum(labelFilters)
    .optional()
    .describe("The worst; with scorer_name, that scorer's. `pending`: no score yet (one project only)."),
  severity: z.enum(severities).optional().describe("The worst; with scorer_name, that scorer's."),
  verdict: z
    .enum(callVerdicts)
    .optional()
    .describe('What all scorers say together, also with scorer_name (docs/verdicts.md).'),
  scorer_name: textField(100).optional(),
  status: z
    .enum(statusFilters)
    .optional()
    .describe('`failed`: with an error, or a status of 400 and more; `aborted`: broken off.'),
  review: z
    .enum(reviewFilters)
    .optional()
    .describe(
      'What people said of its scores (one project only): `false_alarm`, `confirmed`, `missed` by a scorer, or nothing.',
    ),
  ...operatorFields,
  start: timeField.optional().describe('Start of the range.'),
  end: timeField.optional().describe('End of the range, exclusive.'),
}

const nullableText = z.string().nullable()
const nullableNumber = z.number().nullable()
export const requestItemSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  created_at: z.iso.datetime(),
  source: z.string(),
  model: z.string(),
  provider: nullableText,
  agent_name: nullableText,
  agent_tag: nullableText,
  session_id: nullableText,
  user_id: nullableText,
  type: nullableText,
  tool_name: nullableText,
  prompt_tokens: nullableNumber.describe(
    'Without cached_tokens; both together are what most providers call prompt or input tokens.',
  ),
  completion_tokens: nullableNumber.describe(
    'Without reasoning_tokens; both together are what most providers call completion or output tokens.',
  ),
  cached_tokens: nullableNumber,
  reasoning_tokens: nullableNumber,
  cost_usd: nullableNumber.describe('Null: the price of a part is unknown (docs/costs.md).'),
  latency_ms: nullableNumber,
  time_to_first_token_ms: nullableNumber,
  status_code: nullableNumber,
  error: nullableText.describe(
    'Only the kind of error for users who may not read bodies and for projects that keep none.',
  ),
  aborted_by: nullableText,
  metadata: z.record(z.string(), z.unknown()).nullable(),
  zero_content_retention: z.boolean(),
  worst_label: z.enum(scoreLabels).nullable(),
  worst_severity: z.enum(severities).nullable(),
  score_count: z.number().int(),
  verdict: z
    .enum(callVerdicts)
    .nullable()
    .describe(
      'What the scores say together (docs/verdicts.md). Null: no score yet, or an older call whose verdict is still being derived.',
    ),
  coverage: z
    .object({ decided: z.number().int(), applicable: z.number().int(), total: z.number().int() })
    .nullable()
    .describe(
      'Scores that are `safe` or `unsafe`, those of scorers that the call has something for, and all. Null as verdict.',
    ),
  unread_scorers: z
    .array(z.string())
    .describe('Scorers that did not read the call, or do not cover its language or kind.'),
})

/** Further fields of a request when scorer_name is given. */
export const scorerItemFields = {
  scorer_label: z.enum(scoreLabels).optional().describe('With scorer_name: the label of that scorer.'),
  scorer_severity: z.enum(severities).nullable().optional(),
  scorer_value: z.number().nullable().optional().describe('1 to 5.'),
}

type FilterQuery = Partial<z.output<z.ZodObject<typeof requestFilterFields>>>

/**
 * The filters of a query; `ownFields` are the route's other parameters. Throws 422 for an unknown parameter,
 * because a misspelt filter would show everything.
 */
export function readFilters(
  query: FilterQuery & Readonly<Record<string, unknown>>,
  ownFields: z.ZodRawShape,
): RequestFilters {
  refuseEndBeforeStart(query)
  if (query.label === 'pending')
    refuseTogether(query, 'label=pending', ['scorer_name', 'severity', 'verdict'])
  const others = Object.entries(query).filter(
    ([name]) => !Object.hasOwn(requestFilterFields, name) && !Object.hasOwn(ownFields, name),
  )
  const { metadata, compared } = readMetadata(others, unknownWords)
  return {
    ...query,
    ...recordSources.read(query),
    metadata,
    compared: [...readComparisons(query), ...compared],
  }
}

function unknownWords(name: string): string {
  const [field = '', operator] = name.split('.')
  if (operator === undefined || !Object.hasOwn(requestFilterFields, field)) return 'is not known here'
  const known = Object.keys(operatorFields).filter((each) => each.startsWith(`${field}.`))
  return known.length === 0
    ? `is not known here: ${field} has no operators`
    : `is not known here; there are ${known.join(', ')}`
}
