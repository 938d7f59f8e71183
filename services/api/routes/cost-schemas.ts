import { z } from 'zod'
import { idField, textField, timeField } from '#http/fields.ts'
import { reportSources } from '../http/source-filter.ts'
import { countedRangeFields, rangeFields } from '../http/time-range.ts'
import { costOrders, type CostOrder } from '../stores/cost-sums.ts'

const orders = Object.keys(costOrders) as [CostOrder, ...CostOrder[]]

export const costQuery = z.strictObject({
  project_id: idField('project')
    .optional()
    .describe('A key has its own. Absent, for those who see every project: all together.'),
  ...rangeFields,
  previous_start: timeField
    .optional()
    .describe('Start of the period before, which ends at `start`. Absent: it is as long as the range.'),
  by: textField(200)
    .default('model')
    .describe(
      '`model`, `provider`, `agent`, `source`, `user`, `project`, `metadata.<key>`, or two of them with a comma between.',
    ),
  user_id: textField(256)
    .optional()
    .describe('Only calls of this end user: at most the newest 100,000, which are then read themselves.'),
  order: z.enum(orders).default('cost').describe('By what groups are ordered, the largest first.'),
  ...reportSources.fields,
})

const count = z.number()
const sums = {
  calls: count,
  failed: count.describe('With an error, or a status of 400 and more.'),
  unsafe: count.describe('By their worst label.'),
  tokens: count.describe('All four kinds together.'),
  prompt_tokens: count,
  completion_tokens: count,
  cached_tokens: count,
  reasoning_tokens: count,
  priced: count.describe('Calls with a known cost.'),
  cost_usd: count,
}
const latencies = {
  latency_p50_ms: count.nullable().describe('Within 20%.'),
  latency_p95_ms: count.nullable(),
}
const before = z.object(sums).nullable()
const name = {
  values: z
    .array(z.string().nullable())
    .describe('A value for each dimension of `by`; null: calls without one. Empty: the rest.'),
  is_other: z.boolean().describe('Whether this is the rest.'),
}

export const costSchema = z.object({
  project_id: z.string().nullable().describe('Null: every project.'),
  ...countedRangeFields,
  previous_start: z.iso.datetime(),
  by: z.array(z.string()),
  step_hours: z.number().int(),
  counted_from: z.iso
    .datetime()
    .nullable()
    .describe(
      'Set for a grouping that is not kept: only the newest 100,000 calls, from then on, were counted.',
    ),
  named_from: z.iso
    .datetime()
    .nullable()
    .describe('Of a declared metadata key: calls before this time are in the group without a value.'),
  total: z.object({ ...sums, ...latencies }),
  previous: before.describe('The period before. Null: not compared, because not all calls were counted.'),
  groups: z.array(z.object({ ...name, ...sums, ...latencies, previous: before })).max(301),
  series: z
    .array(z.object({ ...name, points: z.array(z.object({ at: z.iso.datetime(), ...sums, ...latencies })) }))
    .max(9)
    .describe('The eight largest groups and the rest over time. Empty steps are left out.'),
})
export type CostAnswer = z.output<typeof costSchema>
export type CostGroup = CostAnswer['groups'][number]

/** The columns of the file, behind those of the dimensions. */
export const csvSums = [...Object.keys(sums), ...Object.keys(latencies)] as (keyof CostGroup)[]
export const csvBefore = ['calls', 'failed', 'unsafe', 'tokens', 'cost_usd'] as const
