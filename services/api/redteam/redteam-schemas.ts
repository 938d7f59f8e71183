import { z } from 'zod'
import {
  redteamAttemptStates,
  redteamOptionsSchema,
  redteamStatuses,
  redteamTargetSchema,
  redteamTransformations,
  redteamVerdicts,
} from '#schemas/redteam-run.ts'
import { severities } from '#schemas/verdicts.ts'
import { idField, textField } from '#http/fields.ts'

const time = z.iso.datetime()
const count = z.number().int()

export const orderSchema = z.strictObject({
  project_id: idField('project').describe('The project of the agent; attempts are stored there.'),
  agent_name: textField(256),
  target: redteamTargetSchema,
  options: redteamOptionsSchema.prefault({}),
  seed: textField(100).default('1').describe('The same seed gives the same attempts in the same order.'),
  budget_usd: z
    .number()
    .positive()
    .max(1_000_000)
    .nullish()
    .describe('By the prices of the answering models. Absent: unlimited.'),
  runner: z
    .enum(['worker', 'cli'])
    .default('worker')
    .describe('`cli`: only the process that is told its id carries it out (scripts/redteam).'),
})

export const redteamRunSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  agent_name: z.string(),
  target: redteamTargetSchema.describe('Header values are not shown.'),
  options: redteamOptionsSchema,
  seed: z.string(),
  budget_usd: z.number().nullable(),
  runner: z.enum(['worker', 'cli']),
  status: z
    .enum(redteamStatuses)
    .describe('`scoring`: all is sent, and some attempts wait for their scores.'),
  stopped_by: z
    .enum(['budget', 'no_price'])
    .nullable()
    .describe('`no_price`: there is a budget, and nobody knows what an answer cost.'),
  problem: z.string().nullable(),
  planned_count: count.nullable().describe('Null: not planned yet.'),
  sent_count: count,
  total_probes: count.describe('Attempts with a verdict: passed, failed or unscored.'),
  pass_count: count,
  fail_count: count,
  unscored_count: count.describe('Could not be judged; does not count as passed.'),
  critical_count: count,
  cost_usd: z.number().nullable().describe('Cost of the answers.'),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  duration_seconds: count.nullable(),
})

const share = z.number().min(0).max(1).nullable()
const tally = {
  total: count,
  pass_count: count,
  fail_count: count,
  unscored_count: count,
  critical_count: count,
  detected_count: count.describe('Attempts whose prompt a scorer recognised as an attack.'),
  fail_rate: share.describe('Failed among passed and failed; null: none.'),
  fail_rate_low: share.describe('95 % interval (Wilson).'),
  fail_rate_high: share,
}
const category = z.object({ category: z.string(), title: z.string().nullable(), ...tally })
const probe = z.object({ probe_id: z.string(), category: z.string(), ...tally })

export const reportSchema = z.object({
  run: redteamRunSchema,
  report_url: z.string(),
  totals: z.object(tally),
  categories: z.array(category),
  transformations: z.array(z.object({ transformation: z.string(), ...tally })),
  probes: z.array(probe),
})

const change = z.number().nullable().describe('Change of the failure rate.')
const sides = { before: z.object(tally).nullable(), after: z.object(tally).nullable(), change }
export const redteamDiffSchema = z.object({
  run_id: z.string(),
  against: z.string().nullable().describe('Null: there is no earlier run of the agent.'),
  categories: z.array(z.object({ category: z.string(), ...sides })),
  probes: z.array(z.object({ probe_id: z.string(), category: z.string(), ...sides })),
})

const attemptSchema = z.object({
  number: count,
  request_id: z
    .string()
    .describe('The request record of the last turn; earlier turns name it in `metadata.redteam_attempt`.'),
  probe_id: z.string(),
  category: z.string(),
  scorer: z.string(),
  judged_by: z.array(z.string()),
  transformation: z.enum(redteamTransformations),
  repeat: count,
  state: z.enum(redteamAttemptStates),
  verdict: z.enum(redteamVerdicts).nullable(),
  severity: z.enum(severities).nullable(),
  failed_by: z.array(z.string()).nullable(),
  found_in: z.string().nullable().describe('The request in which the attack succeeded; null: none.'),
  detected: z.boolean().nullable(),
  reason: z.string().nullable().describe('Why it is unscored.'),
  status_code: count.nullable(),
  latency_ms: z.number().nullable(),
  cost_usd: z.number().nullable(),
})

export const attemptsSchema = z.object({
  items: z.array(attemptSchema),
  next_after: count.nullable().describe('`after` of the next page; null: this was the last.'),
})
