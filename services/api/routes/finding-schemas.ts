import { z } from 'zod'
import { findingStates } from '#schemas/event-data.ts'
import { findingTargetMs } from '#schemas/finding.ts'
import { severities } from '#schemas/verdicts.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { skipReasons } from '../stores/change-findings.ts'
import { findingDimensions, userCalls } from '../stores/finding-store.ts'
import { maxShown } from '../stores/finding-parts.ts'

const count = z.number().int()
const time = z.iso.datetime()
const owner = z.object({ id: z.string(), login: z.string() }).nullable()
const hours = severities
  .toReversed()
  .map((severity) => `${severity} ${findingTargetMs[severity] / 3_600_000} h`)
  .join(', ')
const namedCall = z.string().nullable().describe('Null: that call was erased.')

export const findingSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  scorer_name: z.string(),
  evidence_kind: z.string().nullable().describe('Of the first value that was found; null: none was.'),
  agent_name: z.string().nullable(),
  tool_name: z.string().nullable(),
  owasp_category: z.string().nullable(),
  severity: z.enum(severities).describe('The worst of its calls.'),
  state: z.enum(findingStates),
  muted_until: time.nullable(),
  owner,
  count: count.describe('Failing live scores, one a call; also of calls that were deleted since.'),
  distinct_values: count.describe('Different values that were found, as far as they are still kept.'),
  distinct_values_is_exact: z.boolean().describe('False: 1,000 were counted, and there may be more.'),
  first_seen_at: time,
  last_seen_at: time,
  first_request_id: namedCall,
  last_request_id: namedCall.describe('The newest of its calls; null: all were erased.'),
  first_opened_at: time,
  opened_at: time.describe('When it was opened last.'),
  closed_at: time.nullable(),
  closed_by: z.string().nullable(),
  due_at: time.nullable().describe(`After it is open for ${hours}; null: nobody needs to act.`),
  is_overdue: z.boolean(),
})

const standing = z.object({ state: z.enum(findingStates), muted_until: time.nullable(), owner })
export const commentSchema = z.object({
  id: z.string(),
  author: z.string(),
  author_kind: z.enum(['person', 'key', 'operator']),
  text: z.string().nullable().describe('Null for viewers: it may quote content.'),
  created_at: time,
})

export const detailSchema = findingSchema.extend({
  sessions: count.describe('Of the newest 10,000 calls that are still stored.'),
  users: count.describe('The same.'),
  sessions_are_exact: z.boolean().describe('False: more calls were counted than were looked at.'),
  calls: z
    .array(
      z.object({
        request_id: z.string(),
        score_id: z.string(),
        created_at: time,
        severity: z.enum(severities),
        score_value: z.number().nullable(),
        model: z.string(),
        session_id: z.string().nullable(),
        user_id: z.string().nullable(),
      }),
    )
    .describe(`The newest ${maxShown}.`),
  values: z
    .array(z.object({ first_request_id: namedCall, last_request_id: namedCall }))
    .describe(`Where each different value was found first and last: the newest ${maxShown}.`),
  comments: z.array(commentSchema).describe(`The newest ${maxShown}.`),
  history: z
    .array(
      z.object({
        change_id: z.string(),
        at: time,
        actor_kind: z.enum(['person', 'key', 'operator']).nullable().describe('Null: a call.'),
        actor_name: z.string().nullable(),
        before: standing,
        after: standing,
        lost_owner: z
          .string()
          .nullable()
          .describe('The login of the former owner, whom this undo could not restore.'),
      }),
    )
    .describe(`The newest ${maxShown} changes.`),
})

const suppressionOffer = z
  .object({
    rule: z.object({
      scorer_name: z.string(),
      kind: z.string().optional(),
      agent_name: z.string().optional(),
      tool_name: z.string().optional(),
      max_severity: z.enum(severities),
    }),
    needs_expires_at: z.boolean().describe('Whether it covers `critical`.'),
    covered: count.describe('Scores of the last 30 days that it would have covered.'),
    examined: count,
    is_complete: z.boolean(),
    sample_request_ids: z.array(z.string()),
  })
  .nullable()

export const changedSchema = findingSchema.extend({
  change_id: z.string().describe('For `POST /api/findings/changes/{change_id}/undo`.'),
  suppression: suppressionOffer.describe(
    'For a false alarm: what `POST /api/suppressions` with this rule would have covered. Null otherwise.',
  ),
})

export const bulkSchema = z.object({
  change_id: z.string(),
  changed: z.array(z.string()),
  skipped: z.array(
    z.object({
      id: z.string(),
      reason: z
        .enum(skipReasons)
        .describe(
          '`state`: this state cannot follow; `changed_since`: something changed it after the change to undo.',
        ),
      state: z.enum(findingStates).nullable(),
    }),
  ),
})

export const undoneSchema = bulkSchema.extend({
  without_owner: z
    .array(z.string())
    .describe('Changed, but left without the former owner, who is disabled or no longer sees the project.'),
})

const values = z.array(z.object({ value: z.string(), count }))
export const facetsSchema = z.object({
  findings: count,
  overdue: count,
  ...(Object.fromEntries(findingDimensions.map((name) => [name, values])) as Record<
    (typeof findingDimensions)[number],
    typeof values
  >),
  counts_are_exact: z
    .literal(false)
    .optional()
    .describe('Present when more than 10,000 pass the filters: counts are of those opened last.'),
})

export const findingFilterFields = {
  project_id: idField('project')
    .optional()
    .describe('For the operator, who sees all without it; a key has its own.'),
  state: z.enum(findingStates).optional(),
  severity: z.enum(severities).optional(),
  scorer_name: textField(100).optional(),
  agent_name: textField(200).optional(),
  tool_name: textField(200).optional(),
  owner: idField('person').optional(),
  overdue: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe(`Open or acknowledged for longer than ${hours}.`),
  since: timeField.optional().describe('With a call from then on.'),
  user_id: textField(256)
    .optional()
    .describe(`With a call of this end user, among their newest ${userCalls.toLocaleString('en')}.`),
}

export const author = textField(200)
  .default('unknown')
  .describe('The name of the author; users of the dashboard have their login.')

export const changeFields = {
  state: z
    .enum(findingStates)
    .optional()
    .describe('From `resolved` and `false_alarm` a finding is opened before other work on it.'),
  muted_until: timeField
    .optional()
    .describe('Required with `muted`, at most a year ahead; the next call then opens it.'),
  owner: idField('person').nullable().optional().describe('A user who sees the project; null: nobody.'),
  author,
}
